import { invalid } from '../errors.ts'

/** The project that a store always has. */
export const DEFAULT_PROJECT = 'default'

/** Whether `name` can be a project, which is also a folder of the store. */
export function isProjectName(name: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)
}

/** `name` if it can be a project; refuses otherwise. */
export function checkProjectName(name: string): string {
  if (isProjectName(name)) return name
  throw invalid(
    ['project'],
    `${JSON.stringify(name)} is not a project name: use 1 to 64 lower-case letters, digits, "_" and "-", and begin ` +
      `with a letter or a digit.`,
  )
}
