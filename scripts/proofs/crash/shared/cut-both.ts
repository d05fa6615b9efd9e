import { CopyOnDisk } from '../../../../src/cluster/following/folder/compare-copy.ts'
import type { OpenLog } from '../../../../src/cluster/following/shared-log.ts'
import type { Fs } from '../../../../src/storage/files/fs.ts'
import { thisProcess } from '../../../../src/storage/files/process-identity.ts'
import { MemoryDatabase } from '../../../../test/support/postgres/memory-log.ts'
import { checkServer } from '../check-recovered.ts'
import { checkWithGit } from '../check-with-git.ts'
import { type Crash, crashed, CRASHES } from '../crash.ts'
import { newHistory } from '../crash-history.ts'
import type { CutFigures } from '../cut-everywhere.ts'
import type { Step } from '../../../../test/support/disk/disk-steps.ts'
import { SimulatedDisk } from '../../../../test/support/disk/simulated-disk.ts'
import { type CrashServer, openServer, STORE } from '../open-server.ts'
import { type Random, randomFrom } from '../../../../test/support/values/random.ts'
import { runSharedHistory } from './shared-history.ts'

export interface CutBothOptions {
  readonly seed: number
  readonly rounds: number
  /** The share of steps at which a server is stopped; at all of them unless given. */
  readonly share?: number
  /** The share of folders that the git program looks at, too. */
  readonly gitShare?: number
  /** Makes the log a careless one, to see that it is found out. */
  readonly careless?: (openLog: OpenLog) => OpenLog
  readonly maxFailures?: number
}

/** The share of cuts at which the other server's machine is cut off as well, in place of its process being killed. */
const BOTH = 0.3
/** The share of starts that are cut off. */
const CUT_AGAIN = 0.15

/**
 * Runs a random history at two servers, each with a disk of its own, over a database in memory, and stops both before every step that either of
 * them takes on its disk: the one that takes it in any way there is. Two servers are started on what is left then: both folders have to
 * be what the database holds, with every answered write, and a write at one has to be seen at the other.
 */
export async function cutBoth(options: CutBothOptions): Promise<CutFigures> {
  const { seed, rounds, share = 1, gitShare = 0, careless = (openLog) => openLog, maxFailures = 3 } = options
  const choices = randomFrom(seed + 1)
  const database = new MemoryDatabase()
  const disks = [2, 3].map((number) => new SimulatedDisk(randomFrom(seed + number)))
  const history = newHistory()
  const left: LeftBehind[] = []
  let steps = 0
  for (const [number, disk] of disks.entries()) {
    disk.watch((step) => {
      if (step.call === 'read') return
      steps++
      if (!choices.chance(share)) return
      const crashes = disks.map((_, at) => (at === number || choices.chance(BOTH) ? pick(choices) : 'killed'))
      left.push({
        database: database.copied(),
        disks: disks.map((it, at) => crashedCopy(it, crashes[at] ?? 'killed', choices)),
        story: `seed ${seed}: ${crashes.join(' and ')} before step ${steps} (${step.call} ${step.path} of server ${number + 1})`,
        until: steps - 1,
      })
    })
  }
  const servers = await runSharedHistory(history, {
    disks: disks.map(({ fs }) => fs),
    openLog: careless(database.open),
    random: randomFrom(seed),
    rounds,
    now: () => steps,
  })
  for (const server of servers) await server.close()

  const figures = { twice: 0, checkedByGit: 0, failures: [] as string[] }
  const cuts = left.length
  for (let next = left.shift(); next; next = left.shift()) {
    if (figures.failures.length >= maxFailures) break
    const story = [next.story]
    try {
      if (choices.chance(CUT_AGAIN)) {
        figures.twice++
        next = await cutStart(next, choices, story)
      }
      figures.checkedByGit += await checkBoth(next, history, choices.chance(gitShare))
    } catch (error) {
      figures.failures.push(
        `${story.join(', then ')}: ${error instanceof Error ? error.stack : String(error)}`,
      )
    }
  }
  return { cuts, states: cuts * 2, answered: history.answered, ...figures }
}

/** What the servers leave, and the database, which goes on. */
interface LeftBehind {
  readonly database: MemoryDatabase
  readonly disks: readonly SimulatedDisk[]
  readonly story: string
  /** The last step that was taken. */
  readonly until: number
}

function pick(choices: Random): Crash {
  return choices.pick(CRASHES) ?? 'everything'
}

function crashedCopy(disk: SimulatedDisk, crash: Crash, choices: Random, life = 1): SimulatedDisk {
  const copy = crashed(disk.state, crash, randomFrom(choices.below(2 ** 31)), life)
  if (crash !== 'killed') ageBoot(copy.fs)
  return copy
}

/** A folder says at which start of its machine it was filled: after a power cut that is an earlier one. */
function ageBoot(fs: Fs): void {
  const path = `${STORE}/.copy/position`
  const text = fs.readFile(path)?.toString('latin1')
  if (text === undefined) return
  fs.remove(path)
  fs.create(path, Buffer.from(text.replaceAll(thisProcess().boot, 'of before'), 'latin1'))
}

/** Starts the first server and stops it at some step of that; answers what is left then. */
async function cutStart(
  { database, disks: [first, ...others], ...left }: LeftBehind,
  choices: Random,
  story: string[],
): Promise<LeftBehind> {
  if (!first) throw new Error('there are two servers')
  let cut: { readonly disk: SimulatedDisk; readonly database: MemoryDatabase } = { disk: first, database }
  first.watch((step: Step) => {
    // Each step is as likely as any other to be the last one chosen.
    if (step.call === 'read' || !choices.chance(1 / step.number)) return
    const crash = pick(choices)
    cut = { disk: crashedCopy(first, crash, choices, 2), database: database.copied() }
    story[1] = `${crash} before step ${step.number} of the start (${step.call} ${step.path})`
  })
  const server = await openServer(first.fs, database.open)
  first.watch(() => undefined)
  await server.close()
  return { ...left, database: cut.database, disks: [cut.disk, ...others] }
}

/** Throws what is not as it has to be. Answers how many repositories git looked at. */
async function checkBoth(
  { database, disks, until }: LeftBehind,
  history: ReturnType<typeof newHistory>,
  withGit: boolean,
): Promise<number> {
  const servers: CrashServer[] = []
  try {
    for (const { fs } of disks) servers.push(await openServer(fs, database.open))
    const [first, second] = servers
    if (!first || !second) throw new Error('there are two servers')
    for (const server of servers) await server.store.fresh()
    await assertCopies(database, servers)
    await checkServer(first, history, until)
    for (const server of servers) await server.store.fresh()
    await assertCopies(database, servers)
    for (const { repository, reason } of second.registry.index.problems())
      throw new Error(`${repository}: ${reason}`)
    return withGit ? checkWithGit(second.fs) : 0
  } finally {
    for (const server of servers) await server.close()
  }
}

/** Every folder has what the database has, and nothing else. */
async function assertCopies(database: MemoryDatabase, servers: readonly CrashServer[]): Promise<void> {
  const log = await database.open(undefined)
  const states = await log.statesBehind('', Infinity)
  for (const [number, { fs }] of servers.entries()) {
    const copy = new CopyOnDisk(fs, STORE)
    for (const repository of new Set([...states.keys(), ...copy.repositories()])) {
      const differences = copy.differencesFrom(repository, states.get(repository))
      if (differences.length > 0)
        throw new Error(`server ${number + 1} differs: ${repository}: ${differences.join('; ')}`)
    }
  }
}
