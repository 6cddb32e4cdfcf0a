"""Decides what a key, or a line, means in a chat; `chatting` does it."""

from typing import Literal

import msgspec

Key = Literal["enter", "tab", "interrupt", "end"]
COMMANDS = {
    "/help": "what the keys and these words do",
    "/plan": "the plan that stands",
    "/model [NAME]": "who answers, or who shall from now on",
    "/new": "begin a new session",
    "/title TEXT": "name this session",
    "/queue TEXT": "leave a prompt for after this turn, as Tab does",
    "/drop": "take the last one that waits back into the line",
    "/quit": "leave, as Ctrl-D does",
}
"""The words that are no prompts, and what they are for."""
NAMES = tuple(usage.partition(" ")[0] for usage in COMMANDS)


class Situation(msgspec.Struct, frozen=True):
    """`text` is what has been typed.

    `busy`: a turn runs, or something waits for one. `stopping`: that is being ended. `warned`: a moment ago it was said
    how to leave.
    """

    text: str = ""
    busy: bool = False
    stopping: bool = False
    warned: bool = False


class Prompt(msgspec.Struct, frozen=True):
    """Leave a prompt: the next turn answers it. `steers`: a turn that runs hears it at its next step."""

    text: str
    steers: bool = False


class Drop(msgspec.Struct, frozen=True):
    """Take back what was left last."""


class Stop(msgspec.Struct, frozen=True):
    """End the turn and take back what waits."""


class Clear(msgspec.Struct, frozen=True):
    """Empty the line."""


class Complete(msgspec.Struct, frozen=True):
    """Write a command's name to its end."""


class Leave(msgspec.Struct, frozen=True):
    """End the chat, and a turn that runs before. `at_once`: without waiting for anything."""

    at_once: bool = False


class Say(msgspec.Struct, frozen=True):
    """Tell the person something. `warns`: it is how to leave."""

    text: str
    warns: bool = False


class Help(msgspec.Struct, frozen=True):
    """Tell what can be typed."""


class ShowPlan(msgspec.Struct, frozen=True):
    """Show the plan that stands, or what was left open."""


class ChooseModel(msgspec.Struct, frozen=True):
    """Say who answers; with a name: let that one answer what follows."""

    name: str = ""


class Renew(msgspec.Struct, frozen=True):
    """Let the next prompt begin a new session."""


class Entitle(msgspec.Struct, frozen=True):
    """Name the session."""

    title: str


Move = Prompt | Drop | Stop | Clear | Complete | Leave | Say | Help | ShowPlan | ChooseModel | Renew | Entitle | None
BUSY = "a turn is running; Ctrl-C stops it"


def decide(key: Key, now: Situation) -> Move:
    """What the key means now; None: nothing."""
    if key == "interrupt":
        return _interrupted(now)
    if key == "end":
        return None if now.text else Leave()
    if not now.text.strip():
        return None
    # A path has a second slash.
    is_command = now.text.startswith("/") and "/" not in now.text.split(maxsplit=1)[0][1:]
    if key == "tab" and (is_command or not now.busy):
        return Complete() if is_command else None
    if is_command:
        return _commanded(now)
    text = now.text[1:] if now.text.startswith("//") else now.text
    return Prompt(text, steers=key == "enter" and now.busy and not now.stopping)


def _interrupted(now: Situation) -> Move:
    if now.stopping:
        return Leave(at_once=True)
    if now.busy:
        return Stop()
    if now.text:
        return Clear()
    return Leave() if now.warned else Say("Ctrl-D leaves; so does Ctrl-C once more", warns=True)


def _commanded(now: Situation) -> Move:
    name, *rest = now.text.split(maxsplit=1)
    text = rest[0].strip() if rest else ""
    match name:
        case "/help":
            return Help()
        case "/plan":
            return ShowPlan()
        case "/model":
            return ChooseModel(text)
        case "/new":
            return Say(BUSY) if now.busy else Renew()
        case "/title" | "/queue" if not text:
            return Say(f"{name} wants a text behind it")
        case "/title":
            return Say(BUSY) if now.busy else Entitle(" ".join(text.split()))
        case "/queue":
            return Prompt(text)
        case "/drop":
            return Drop()
        case "/quit":
            return Leave()
        case _:
            return Say(f"there is no {name}; /help lists what there is, and a second slash before it sends it as text")
