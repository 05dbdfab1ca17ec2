module receiver

go 1.19

require parley v0.0.0

// In your own project, copy sdk/go/verify.go instead.
replace parley => ../../sdk/go
