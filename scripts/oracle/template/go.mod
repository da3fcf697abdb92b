module seatrial/oracle/template

go 1.26
