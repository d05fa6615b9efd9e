import { invalid } from '../../errors.ts'

/** The project that every store has. */
export const DEFAULT_PROJECT = 'default'

/** Whether `name` can be a project's, which is also a folder name. */
export function isProjectName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)
}

/** `name` if it is valid; refuses otherwise. */
export function checkProjectName(name: string): string {
  if (isProjectName(name)) return name
  throw invalid(
    ['project'],
    `${JSON.stringify(name)} is not a project name: use 1 to 63 letters, digits, "_" and "-", and begin ` +
      `with a letter or a digit.`,
  )
}
