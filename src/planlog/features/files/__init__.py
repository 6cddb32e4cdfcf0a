"""Files of the workspace: tools that read and change them, and what keeps them from changing what nobody has read."""
