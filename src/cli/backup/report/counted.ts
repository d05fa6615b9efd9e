/** `1 repository`, `2 repositories`. */
export function counted(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'repository' : 'repositories'}`
}
