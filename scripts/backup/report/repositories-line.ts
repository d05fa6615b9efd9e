/** `[####......]  42 %  120 of 285 repositories  3 changed`. */
export function repositoriesLine(done: number, total: number, changed: number): string {
  const share = total === 0 ? 1 : done / total
  const filled = Math.floor(share * BAR)
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] ${String(Math.floor(share * 100)).padStart(3)} %`
  return `${bar}  ${done.toLocaleString('en')} of ${total.toLocaleString('en')} repositories  ${changed.toLocaleString('en')} changed`
}

const BAR = 10
