"""Settings of all tests."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "kane", derandomize=True, deadline=None, max_examples=12, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip
settings.load_profile("kane")
