module tangram.dev/tests/soak/churn

go 1.26.0
