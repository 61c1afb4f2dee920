package main

import _ "github.com/Masterminds/sprig"

func main() {}
