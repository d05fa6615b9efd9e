import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { ask, type PostgresPair, startPair } from '../../../test/support/postgres/postgres.ts'
import { postgresPrograms } from '../../../test/support/postgres/postgres-programs.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { post } from '../call.ts'
import { type ChildServer, startBranchpoint } from '../../../test/support/servers/child-server.ts'
import { alternate } from '../figures/alternate.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { ratioFigure } from '../figures/ratio-figure.ts'
import { promptData } from '../fill-store.ts'
import { requestsPerSecond } from '../load.ts'
import { progress } from '../progress.ts'
import { quantile } from '../figures/quantile.ts'

const READERS = 32
const WRITERS = 64
/** So many commits are waited for at the other server. */
const SEEN = 200

/**
 * A server over a PostgreSQL pair against the same one over plain files: reads that ask the primary and reads that commit, commits that wait
 * for the standby, what the database works for them, and how soon another server's folder has a commit without a look.
 */
export async function measureServers({ folder, rounds, seconds, add }: BenchSetting): Promise<void> {
  if (postgresPrograms() === undefined) {
    progress('')
    process.stderr.write('There is no PostgreSQL here: servers over one are not measured.\n')
    return
  }
  const pair = await startPair()
  try {
    const url = await pair.primary.database()
    const store = pair.url(new URL(url).pathname.slice(1))
    const following = (name: string, reads: string): Promise<ChildServer> =>
      startBranchpoint(folder, { STORE: store, CACHE_DIR: join(folder, name), READS: reads })
    const files = await startBranchpoint(join(folder, 'files'))
    const quorum = await following('quorum', 'quorum')
    const primary = await following('primary', 'primary')
    const slugs = Array.from({ length: WRITERS }, (_, number) => `many-${number}`)
    const commits = { files: await createAll(files, slugs), shared: await createAll(quorum, slugs) }
    const retrieve = JSON.stringify({ application_variant_ref: { slug: slugs[0] } })
    const reads = (server: ChildServer) => (seconds: number) =>
      requestsPerSecond({ url: server.url + RETRIEVE, body: retrieve, clients: READERS, seconds })
    const writes = (server: ChildServer, body: readonly string[]) => (seconds: number) =>
      requestsPerSecond({ url: server.url + COMMIT, body, clients: WRITERS, seconds })

    const spent = { reads: new Array<number>(), writes: new Array<number>() }
    /** Commits so far, also those that nobody waits for any more when a round ends: the database has worked for them. */
    const commitsSoFar = async (): Promise<number> => {
      const [row] = await ask<{ commits: string }>(url, 'select count(*) as commits from branchpoint.journal')
      return Number(row?.commits)
    }
    /** What a request costs the database, in microseconds of its processors, both nodes; `soFar` counts requests where answers are too few. */
    const costing =
      (to: number[], measure: (seconds: number) => Promise<number>, soFar?: () => Promise<number>) =>
      async (seconds: number) => {
        const begun = await soFar?.()
        const before = processorSeconds(pair)
        const aSecond = await measure(seconds)
        const spent = processorSeconds(pair) - before
        const requests = begun === undefined ? aSecond * seconds : ((await soFar?.()) ?? 0) - begun
        to.push((1e6 * spent) / requests)
        return aSecond
      }
    const read = await alternate(
      `retrieve the latest, ${READERS} clients`,
      { rounds, seconds },
      { files: reads(files), primary: costing(spent.reads, reads(primary)), quorum: reads(quorum) },
    )
    const rates = { as: '%', unit: 'a second', floor: read.files } as const
    const what = `retrieve the latest by variant slug, ${READERS} clients, over PostgreSQL against plain files`
    add(
      ratioFigure({
        ...rates,
        work: `${what}, READS=primary`,
        ours: read.primary,
        goal: { is: '≥', value: 60 },
      }),
    )
    add(
      ratioFigure({
        ...rates,
        work: `${what}, READS=quorum`,
        ours: read.quorum,
        goal: { is: '≥', value: 40 },
      }),
    )

    const written = await alternate(
      `durable commit, ${WRITERS} clients`,
      { rounds, seconds },
      {
        files: writes(files, commits.files),
        shared: costing(spent.writes, writes(quorum, commits.shared), commitsSoFar),
      },
    )
    add(
      ratioFigure({
        work: `durable commit, ${WRITERS} clients over ${WRITERS} artifacts, with a synchronous standby, against plain files`,
        as: '%',
        unit: 'a second',
        ours: written.shared,
        floor: written.files,
        goal: { is: '≥', value: 80 },
      }),
    )
    const work = 'processor time of the database, both nodes'
    // The first is of the warm-up.
    const [reading, writing] = [spent.reads.slice(1), spent.writes.slice(1)]
    add(
      plainFigure({
        work: `${work}, a retrieve at ${READERS} clients, READS=primary`,
        rounds: reading,
        unit: 'µs',
        goal: { is: '≤', value: 20 },
      }),
    )
    add(
      plainFigure({
        work: `${work}, a commit at ${WRITERS} clients`,
        rounds: writing,
        unit: 'µs',
        goal: { is: '≤', value: 350 },
      }),
    )

    const times = await untilSeen(quorum, join(folder, 'primary'), commits.shared[0] ?? '', slugs[0] ?? '')
    add(
      plainFigure({
        work: `from the answer of a commit until another server's folder has it without a look, 99 of 100`,
        rounds: [quantile(times, 0.99)],
        unit: 'ms',
        goal: { is: '≤', value: 20 },
      }),
    )
    await Promise.all([files.stop(), quorum.stop(), primary.stop()])
  } finally {
    await pair.stop()
  }
}

const RETRIEVE = '/applications/revisions/retrieve'
const COMMIT = '/applications/revisions/commit'

/** Makes artifacts, and answers for each the body of a commit to it. */
async function createAll(server: ChildServer, slugs: readonly string[]): Promise<string[]> {
  const bodies: string[] = []
  for (const slug of slugs) {
    const body = { application: { slug, data: promptData(1) } }
    const { application } = await post(server, '/simple/applications', body, created)
    const sent = { application_variant_id: application.variant_id, message: 'Next', data: promptData(2) }
    bodies.push(JSON.stringify({ application_revision_commit: sent }))
  }
  return bodies
}

const created = z.object({ application: z.object({ variant_id: z.string() }) })
const committed = z.object({ application_revision: z.object({ id: z.string() }) })

/** Milliseconds from each answer of so many commits until a ref in the other folder has moved. */
async function untilSeen(server: ChildServer, other: string, body: string, slug: string): Promise<number[]> {
  const ref = join(other, 'default', 'workflows', `${slug}.git`, 'refs', 'heads', slug)
  const times: number[] = []
  for (let number = 0; number < SEEN; number++) {
    progress(`a commit is seen elsewhere: ${number} of ${SEEN}`)
    const before = oidIn(ref)
    await post(server, COMMIT, JSON.parse(body), committed)
    const answered = performance.now()
    while (oidIn(ref) === before) await pause(0)
    times.push(performance.now() - answered)
  }
  progress('')
  return times
}

function oidIn(ref: string): string {
  try {
    return readFileSync(ref, 'latin1')
  } catch {
    return '' // packed still, or about to be renamed
  }
}

/** What the processes of both nodes have worked so far, in seconds. */
function processorSeconds({ primary, standby }: PostgresPair): number {
  return primary.processorSeconds() + standby.processorSeconds()
}
