import { pgbouncerProgram, postgresPrograms } from './postgres-programs.ts'

/** Skips what a hook is about where there is no PostgreSQL, and says so by name: nobody shall take what was not tested for tested. */
export function needsPostgres(hook: Mocha.Context): void {
  if (postgresPrograms() === undefined) skip(hook, 'PostgreSQL', 'postgresql')
}

/** The same for PgBouncer before PostgreSQL. */
export function needsPgbouncer(hook: Mocha.Context): void {
  needsPostgres(hook)
  if (pgbouncerProgram() === undefined) skip(hook, 'PgBouncer', 'pgbouncer')
}

function skip(hook: Mocha.Context, program: string, name: string): void {
  const title = hook.test?.parent?.fullTitle()
  console.warn(`SKIPPED: ${title}. There is no ${program} here: apt-get install ${name}.`)
  hook.skip()
}
