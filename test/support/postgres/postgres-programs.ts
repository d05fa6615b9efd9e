import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** PostgreSQL refuses root, so there it runs as a user who may do nothing. */
const NOBODY = 65_534
/** Who PostgreSQL and PgBouncer run as, as `spawn` takes it. */
export const postgresUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** Where Debian and Ubuntu put each version's programs. */
const DEBIAN = '/usr/lib/postgresql'

/** The folder of PostgreSQL's programs: the newest that apt installed, else that of the search path; undefined where there are none. */
export function postgresPrograms(): string | undefined {
  const debian = existsSync(DEBIAN)
    ? readdirSync(DEBIAN)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(DEBIAN, version, 'bin'))
    : []
  return [...debian, ...searchPath()].find((folder) =>
    ['initdb', 'postgres'].every((program) => existsSync(join(folder, program))),
  )
}

/** PgBouncer's program; undefined where there is none. apt puts it where only root's search path leads. */
export function pgbouncerProgram(): string | undefined {
  return [...searchPath(), '/usr/sbin'].map((folder) => join(folder, 'pgbouncer')).find(existsSync)
}

function searchPath(): string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
}
