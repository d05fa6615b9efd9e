import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { ask, startPostgres } from '../../../test/support/postgres/postgres.ts'
import { postgresPrograms } from '../../../test/support/postgres/postgres-programs.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { post } from '../call.ts'
import { type ChildServer, startBranchpoint } from '../../../test/support/servers/child-server.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { quantile } from '../figures/quantile.ts'
import { promptData } from '../fill-store.ts'
import { progress } from '../progress.ts'

const SERVERS = 3
const CLIENTS = 4

/** What PostgreSQL has by itself, in place of what tests set for having many of them at once. */
const ITS_OWN = ['max_connections = 100', 'shared_buffers = 128MB']

/**
 * Three servers over one PostgreSQL as it comes, with nothing set, and clients that commit at one and read that version at the next. What the
 * planner and the compiler of statements do to the database mode by default shows here, and in no figure beside plain files.
 */
export async function measurePairs({ folder, rounds, seconds, add }: BenchSetting): Promise<void> {
  if (postgresPrograms() === undefined) {
    progress('')
    process.stderr.write('There is no PostgreSQL here: pairs over one are not measured.\n')
    return
  }
  const postgres = await startPostgres(ITS_OWN)
  try {
    const url = await postgres.database()
    const [version] = await ask<{ is: string }>(
      url,
      `select current_setting('server_version') || ', jit ' || current_setting('jit') || case when pg_jit_available() then '' else ' but without a compiler' end as is`,
    )
    const servers: ChildServer[] = []
    for (let number = 0; number < SERVERS; number++) {
      const env = { STORE: url, CACHE_DIR: join(folder, `pairs-${number}`) }
      servers.push(await startBranchpoint(folder, env))
    }
    const clients: Client[] = []
    for (let number = 0; number < CLIENTS; number++) clients.push(await clientOf(servers, number))
    const pairs: number[] = []
    const commits: number[] = []
    const refused: number[] = []
    for (let round = 0; round <= rounds; round++) {
      progress(`pairs: round ${round} of ${rounds}`)
      const ends = performance.now() + 1000 * seconds
      const told = await Promise.all(clients.map((client) => client.run(ends)))
      // The first only warms up.
      if (round === 0) continue
      pairs.push(told.reduce((sum, { done }) => sum + done, 0) / seconds)
      refused.push(told.reduce((sum, one) => sum + one.refused, 0))
      commits.push(...told.flatMap((one) => one.commits))
    }
    progress('')
    const note = `PostgreSQL ${version?.is}`
    const who = `${SERVERS} servers over PostgreSQL as it comes, ${CLIENTS} clients`
    add(
      plainFigure({
        work: `pairs of a commit at one server and a read of it at the next, ${who}`,
        rounds: pairs,
        unit: 'a second',
        goal: { is: '≥', value: 30 },
        note,
      }),
    )
    add(
      plainFigure({
        work: `a commit of such a pair, the median, ${who}`,
        rounds: [quantile(commits, 0.5)],
        unit: 'ms',
        goal: { is: '≤', value: 100 },
      }),
    )
    add(
      plainFigure({
        work: `requests of such pairs that were refused, ${who}`,
        rounds: refused,
        judged: 'worst',
        unit: '',
        goal: { is: '≤', value: 0 },
      }),
    )
    for (const server of servers) await server.stop()
  } finally {
    await postgres.stop()
  }
}

interface Client {
  /** Works until then (of performance.now()); what is under way at the end does not count. */
  run(ends: number): Promise<{ readonly done: number; readonly refused: number; readonly commits: number[] }>
}

/** A client with an artifact of its own, which goes round the servers. */
async function clientOf(servers: readonly ChildServer[], number: number): Promise<Client> {
  const at = (turn: number): ChildServer => servers[turn % servers.length] as ChildServer // there is one for each turn
  const slug = `pair-${number}`
  const { application } = await post(
    at(number),
    '/simple/applications',
    { application: { slug, data: promptData(1) } },
    z.object({ application: z.object({ variant_id: z.string() }) }),
  )
  let turn = number
  return {
    run: async (ends) => {
      const told = { done: 0, refused: 0, commits: new Array<number>() }
      for (; performance.now() < ends; turn++) {
        const started = performance.now()
        try {
          const { application_revision: made } = await post(
            at(turn),
            '/applications/revisions/commit',
            {
              application_revision_commit: {
                application_variant_id: application.variant_id,
                message: 'Next',
                data: promptData(turn),
              },
            },
            revision,
          )
          told.commits.push(performance.now() - started)
          const { application_revision: read } = await post(
            at(turn + 1),
            '/applications/revisions/retrieve',
            { application_variant_ref: { slug } },
            revision,
          )
          if (read.version !== made.version)
            throw new Stale(`${slug}: ${read.version} was read after ${made.version} was committed`)
          if (performance.now() < ends) told.done++
        } catch (error) {
          if (error instanceof Stale) throw error
          told.refused++
          await pause(10)
        }
      }
      return told
    },
  }
}

const revision = z.object({ application_revision: z.object({ version: z.number() }) })

class Stale extends Error {}
