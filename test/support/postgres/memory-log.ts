import { randomUUID } from 'node:crypto'
import type {
  AppendedBatch,
  LogEntry,
  LoggedPack,
  Look,
  OpenLog,
  Outcome,
  Positions,
  Proposal,
  ProposedWrite,
  Reads,
  RepositoryState,
  SharedLog,
  StreamPosition,
} from '../../../src/cluster/following/shared-log.ts'
import { MemoryTable } from './memory-table.ts'
import { liveFolder } from '../../../src/git/trash/folder-move.ts'

/**
 * What several servers of one process share in the place of a database: the plain model of what the SQL of `src/cluster/postgres` does, and all of
 * it in one step.
 */
export class MemoryDatabase {
  readonly id: string
  /** Set to another value, as after a failover. */
  era = 'first'
  reads: Reads = 'primary'
  /** Whether servers are told that there may be news. */
  hints = true
  /** Awaited before anything is answered, for tests of what lasts and of what fails. */
  delay: (what: 'append' | 'answer' | 'look' | 'looked' | 'read') => Promise<void> = async () => undefined
  /** How often somebody took over everything. */
  takenOver = 0
  readonly #streams = new Map<string, StreamPosition>()
  readonly #repositories = new Map<string, Repository>()
  /** By project and name, the repositories that have it. */
  readonly #names = new Map<string, Set<string>>()
  readonly #staged = new Map<string, { readonly name: string; readonly bytes: Buffer }>()
  readonly #documents = new MemoryTable(async () => undefined)
  readonly #listeners = new Set<() => void>()
  #journal: LogEntry[] = []

  constructor(id: string = randomUUID()) {
    this.id = id
  }

  /** One of its own that holds what this one holds now, for servers of which this one's know nothing. */
  copied(): MemoryDatabase {
    const copy = new MemoryDatabase(this.id)
    copy.era = this.era
    for (const [name, it] of this.#repositories)
      copy.#repositories.set(name, { ...it, refs: new Map(it.refs), packs: new Map(it.packs) })
    for (const [name, holders] of this.#names) copy.#names.set(name, new Set(holders))
    for (const [id, staged] of this.#staged) copy.#staged.set(id, staged)
    for (const [stream, position] of this.#streams) copy.#streams.set(stream, position)
    copy.#documents.copyFrom(this.#documents)
    copy.#journal = [...this.#journal]
    return copy
  }

  /** Opens it for a server. */
  readonly open: OpenLog = async (stream = randomUUID()) => {
    if (!this.#streams.has(stream)) this.#streams.set(stream, { n: 0, mark: '' })
    return this.#logFor(stream)
  }

  /** Remembers all that there is now; what it answers brings that back, as a failover may that loses what was decided since. */
  remember(): () => void {
    const then = this.copied()
    return () => {
      replace(this.#repositories, then.#repositories)
      replace(this.#names, then.#names)
      replace(this.#streams, then.#streams)
      this.#journal = then.#journal
      this.era = randomUUID()
    }
  }

  #logFor(stream: string): SharedLog {
    return {
      id: this.id,
      stream,
      reads: this.reads,
      hasNews: false,
      append: async (proposals) => {
        await this.delay('append')
        const appended = this.#append(stream, proposals)
        if (this.hints) for (const listener of this.#listeners) setImmediate(listener)
        await this.delay('answer')
        return appended
      },
      look: async () => {
        await this.delay('look')
        const look = this.#look()
        await this.delay('looked')
        return look
      },
      read: async (from, to) => {
        await this.delay('read')
        return this.#read(from, to)
      },
      readPack: async (repository, name) => {
        const bytes = this.#repositories.get(repository)?.packs.get(name)
        return bytes && inOnePiece(bytes)
      },
      smallPacks: async (repository) => new Map(this.#repositories.get(repository)?.packs),
      stagePack: async (name, pieces) => {
        const staged = randomUUID()
        this.#staged.set(staged, { name, bytes: await collected(pieces) })
        return staged
      },
      versions: async (repositories) =>
        new Map([...this.#states(repositories)].map(([name, { version }]) => [name, version])),
      states: async (repositories) => this.#states(repositories),
      statesBehind: async (repository, most) => {
        if (repository === '') this.takenOver++
        const names = [...this.#repositories.keys()].filter((it) => it > repository && this.#live(it))
        return this.#states(names.sort().slice(0, most))
      },
      wasPurged: async (repository) => this.#repositories.get(repository)?.isPurged === true,
      count: async () => [...this.#repositories.keys()].filter((it) => this.#live(it)).length,
      named: async (project, name) => [...(this.#names.get(`${project}/${name}`) ?? [])],
      documents: this.#documents.feed(),
      onNews: (listener) => void this.#listeners.add(listener),
      close: async () => undefined,
    }
  }

  #look(): Look {
    return {
      asked: performance.now(),
      era: this.era,
      positions: new Map(this.#streams),
      documents: this.#documents.log.length,
    }
  }

  #read(from: Positions, to: Positions): LogEntry[] {
    return this.#journal.filter(
      ({ stream, n }) => n > (from.get(stream)?.n ?? 0) && n <= (to.get(stream)?.n ?? 0),
    )
  }

  #states(names: readonly string[]): Map<string, RepositoryState> {
    const states = new Map<string, RepositoryState>()
    for (const name of names) {
      const found = this.#live(name)
      if (!found) continue
      const { version, head, refs, packs, trashed } = found
      states.set(name, { version, head, refs: new Map(refs), packs: [...packs.keys()], trashed })
    }
    return states
  }

  #append(stream: string, proposals: readonly Proposal[]): AppendedBatch {
    const position = { n: (this.#streams.get(stream)?.n ?? 0) + 1, mark: randomUUID() }
    const outcomes = proposals.map((proposal, item): Outcome => {
      const refused = this.#problemOf(proposal)
      if (refused) return refused
      const entry = this.#apply(stream, position.n, item, proposal)
      this.#journal.push(entry)
      return { versions: entry.writes.map(({ version }) => version) }
    })
    this.#streams.set(stream, position)
    return { position, outcomes }
  }

  #problemOf({ writes, needs, seen, moved, purged }: Proposal): Outcome | undefined {
    for (const write of writes) {
      const problem = this.#problemOfWrite(write)
      if (problem) return problem
    }
    for (const repository of needs) if (!this.#isInUse(repository)) return gone(repository)
    for (const [repository, version] of seen)
      if (this.#live(repository)?.version !== version) return gone(repository)
    if (moved && !this.#canMove(moved)) return gone(liveFolder(moved))
    if (purged && this.#live(purged.repository)?.trashed === undefined) return gone(purged.repository)
    return undefined
  }

  #problemOfWrite({ repository, moves, head, claims }: ProposedWrite): Outcome | undefined {
    if (head === undefined) {
      if (!this.#isInUse(repository)) return gone(repository)
      const refs = this.#repositories.get(repository)?.refs
      const moved = moves.find(({ ref, expected }) => ref !== 'HEAD' && refs?.get(ref) !== expected)
      if (moved) return gone(moved.ref)
    } else if (this.#live(repository)) return { refused: 'claimed', what: repository }
    const taken = claims.find(
      ({ name, mustBeFree }) => mustBeFree && (this.#names.get(nameIn(repository, name))?.size ?? 0) > 0,
    )
    return taken && { refused: 'claimed', what: taken.name }
  }

  #canMove(move: { readonly from: string; readonly to: string }): boolean {
    const repository = this.#live(liveFolder({ ...move, stamp: '' }))
    return repository !== undefined && (repository.trashed === undefined) === isToTrash(move)
  }

  #apply(stream: string, n: number, item: number, proposal: Proposal): LogEntry {
    const { writes, moved, purged, notes } = proposal
    const entry = { stream, n, item, writes: writes.map((write) => this.#write(write)) }
    this.#documents.keep(notes)
    if (moved) {
      const repository = this.#existing(liveFolder(moved))
      repository.trashed = isToTrash(moved) ? moved.stamp : undefined
      return { ...entry, moved: { ...moved, version: ++repository.version } }
    }
    if (!purged) return entry
    const repository = this.#existing(purged.repository)
    repository.isPurged = true
    for (const holders of this.#names.values()) holders.delete(purged.repository)
    return { ...entry, purged: { ...purged, version: ++repository.version } }
  }

  #write({ repository: name, moves, pack, staged, head, claims }: ProposedWrite): LogEntry['writes'][number] {
    const repository = head === undefined ? this.#existing(name) : this.#begin(name, head)
    repository.version++
    for (const { ref, target } of moves) {
      if (ref === 'HEAD') repository.head = target?.slice('ref: refs/heads/'.length) ?? repository.head
      else if (target === undefined) repository.refs.delete(ref)
      else repository.refs.set(ref, target)
    }
    const packs: LoggedPack[] = pack ? [pack] : []
    if (pack) repository.packs.set(pack.name, pack.bytes)
    for (const id of staged) {
      const large = this.#staged.get(id)
      if (!large) throw new Error(`${id} was never staged`)
      repository.packs.set(large.name, large.bytes)
      packs.push({ name: large.name })
    }
    for (const claim of claims.filter(({ isTaken }) => isTaken)) {
      const key = nameIn(name, claim.name)
      this.#names.set(key, (this.#names.get(key) ?? new Set()).add(name))
    }
    return { repository: name, version: repository.version, moves, packs, head }
  }

  #begin(name: string, head: string): Repository {
    const version = this.#repositories.get(name)?.version ?? 0
    const begun = { version, head, refs: new Map(), packs: new Map(), trashed: undefined, isPurged: false }
    this.#repositories.set(name, begun)
    return begun
  }

  #existing(name: string): Repository {
    const repository = this.#live(name)
    if (!repository) throw new Error(`${name} is not in the database`)
    return repository
  }

  #live(name: string): Repository | undefined {
    const repository = this.#repositories.get(name)
    return repository?.isPurged ? undefined : repository
  }

  #isInUse(name: string): boolean {
    const repository = this.#live(name)
    return repository !== undefined && repository.trashed === undefined
  }
}

function replace<K, V>(map: Map<K, V>, entries: Iterable<readonly [K, V]>): void {
  map.clear()
  for (const [key, value] of entries) map.set(key, value)
}

interface Repository {
  version: number
  head: string
  readonly refs: Map<string, string>
  readonly packs: Map<string, Buffer>
  /** The stamp of its removal. */
  trashed: string | undefined
  isPurged: boolean
}

function gone(what: string): Outcome {
  return { refused: 'moved', what }
}

function isToTrash({ to }: { readonly to: string }): boolean {
  return to.includes('/.trash/')
}

/** Names are a project's. */
function nameIn(repository: string, name: string): string {
  return `${repository.split('/', 1)[0]}/${name}`
}

async function* inOnePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

async function collected(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}
