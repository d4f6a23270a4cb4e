"""The sections of the report: one frozen dataclass each, with the template that writes it."""
