module tangram.dev/tests/support/faultproxy

go 1.25
