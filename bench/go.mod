module nth/bench

go 1.19
