"""The plan: the task list that a model writes, as a fact on its session's log, and everything that shows it."""

TOOL_NAME = "todo_write"
"""What the tool is called, by models and by every face that shows a call of it."""
