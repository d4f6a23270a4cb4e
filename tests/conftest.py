"""Settings of all tests."""

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "kane", derandomize=True, deadline=None, max_examples=12, database=None,
    phases=(Phase.explicit, Phase.generate),  # a failing mechanism is small already; shrinking would take minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip
settings.load_profile("kane")
