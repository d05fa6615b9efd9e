function inThread(): number {
  return 1
}

inThread()
