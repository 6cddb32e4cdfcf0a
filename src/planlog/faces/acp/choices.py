"""What a person can choose in an editor for one session: who approves calls, and which model answers."""

from planlog.agent.event import Policy
from planlog.faces.acp.codec import INVALID_PARAMS
from planlog.faces.acp.messages import Mode, Modes
from planlog.faces.acp.requests import RpcError
from planlog.faces.acp.updates import ConfigOption, OptionValue
from planlog.kernel.errors import ConfigError
from planlog.model.model import Model
from planlog.model.models import Models

MODEL, APPROVAL = "model", "approval"
_MODES = (
    Mode("ask", "Ask", "Calls that change something wait for your approval"),
    Mode("auto", "Auto", "All calls run without a question"),
    Mode("deny", "Deny", "Calls that would need an approval do not run"),
)
_POLICIES: dict[str, Policy] = {"ask": "ask", "auto": "auto", "deny": "deny"}


class Choices:
    """`model` is as after -m, None or "": what the composition and the keys say. `models` None: there are none."""

    def __init__(self, models: Models | None, model: str | None, policy: Policy) -> None:
        self.policy: Policy = policy
        self._models = models
        self._names = models.choices(model) if models else []
        self._text = model or ""
        self._model: Model | None = None

    def model(self) -> Model:
        """The model that answers, the same one until another is chosen. Raises `ConfigError`."""
        if self._models is None:
            raise ConfigError('no model can be opened: the composition has no row with use = "planlog.model"')
        if self._model is None:
            self._model = self._models.open(self._text or None)
        return self._model

    def modes(self) -> Modes:
        """Who approves calls, as modes."""
        return Modes(self.policy, _MODES)

    def options(self) -> tuple[ConfigOption, ...]:
        """All that can be chosen; the model only where one can be told without asking anybody."""
        modes = tuple(OptionValue(mode.id, mode.name, mode.description) for mode in _MODES)
        text = "Who says whether a call that needs approval may run"
        approval = ConfigOption(APPROVAL, "Approval", self.policy, modes, "mode", text)
        if not self._names:
            return (approval,)
        values = tuple(OptionValue(name, name) for name in self._names)
        current = self._text if self._text in self._names else self._names[0]
        return (ConfigOption(MODEL, "Model", current, values, "model"), approval)

    def choose_mode(self, mode: str) -> None:
        """Raises `RpcError` for a mode that there is not."""
        if mode not in _POLICIES:
            raise RpcError(INVALID_PARAMS, f"there is no mode {mode[:80]!r}; the modes are {', '.join(_POLICIES)}")
        self.policy = _POLICIES[mode]

    def choose(self, option: str, value: object) -> None:
        """Raises `RpcError` for an option, or a value of it, that there is not."""
        known = {one.id: one for one in self.options()}.get(option)
        if known is None:
            raise RpcError(INVALID_PARAMS, f"there is no option {option[:80]!r}")
        if not isinstance(value, str) or value not in (one.value for one in known.options):
            values = ", ".join(one.value for one in known.options[:20])
            raise RpcError(INVALID_PARAMS, f"{str(value)[:80]!r} is no value of the option {option}; there is {values}")
        if option == APPROVAL:
            self.choose_mode(value)
        elif value != known.current_value:
            self._text, self._model = value, None
