module seatrial/oracle/version

go 1.25

require github.com/Masterminds/semver/v3 v3.5.0
