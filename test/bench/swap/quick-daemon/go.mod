module hoodcloud.example/quick-daemon

go 1.24
