import { createHash } from 'node:crypto'
import { CannotStart } from '../../errors.ts'
import { NotInLog, type RepositoryState } from '../following/shared-log.ts'
import { Database } from './database.ts'
import { hostsIn, withoutPassword } from './hosts.ts'
import { partsOf } from './large-packs.ts'
import { countRepositories, readStates, readStatesBehind, MAX_SMALL_PACK_BYTES } from './read-log.ts'

const JOURNAL_READ_MS = 10 * 60 * 1000

const SMALL_PACKS_READ_AT_ONCE = 16

/** A pack whose bytes do not match its name or size. */
interface PackProblem {
  readonly pack: string
  /** A short phrase. */
  readonly problem: string
}

/** Reads a database in order to verify it. Changes nothing, not even the schema. */
export class StoredRepositories {
  readonly #database: Database

  private constructor(database: Database) {
    this.#database = database
  }

  /** Throws CannotStart if it is not a database of Branchpoint servers. */
  static async open(url: string): Promise<StoredRepositories> {
    const hosts = hostsIn(url)
    if (!hosts)
      throw new CannotStart(
        `${withoutPassword(url)} is not the address of a database, such as postgres://user@host,host/database`,
      )
    const database = new Database(hosts)
    const [found] = await database
      .query<{ there: boolean }>({ text: `select to_regclass('branchpoint.packs') is not null as there` })
      .catch(async (error: unknown) => {
        await database.close()
        throw new CannotStart(`Cannot open the database ${withoutPassword(url)}: ${(error as Error).message}`)
      })
    if (found?.there) return new StoredRepositories(database)
    await database.close()
    throw new CannotStart(`The database ${withoutPassword(url)} holds nothing of Branchpoint.`)
  }

  /** The number of repositories whose names start with the prefix. */
  count(prefix: string): Promise<number> {
    return countRepositories(this.#database, prefix)
  }

  /** See SharedLog.statesBehind. */
  statesBehind(repository: string, most: number): Promise<ReadonlyMap<string, RepositoryState>> {
    return readStatesBehind(this.#database, repository, most)
  }

  /** See SharedLog.states. */
  states(repositories: readonly string[]): Promise<ReadonlyMap<string, RepositoryState>> {
    return readStates(this.#database, repositories)
  }

  /** Checks every byte of a repository's packs, with a few megabytes in memory at a time. */
  async packProblems(repository: string): Promise<readonly PackProblem[]> {
    const problems: PackProblem[] = []
    for (let last = '0'; ;) {
      const packs = await this.#database.query<PackRow>({
        name: 'verify-packs',
        text: `select packs.id, packs.name, size, (select count(*) from branchpoint.pack_parts where pack = packs.id) as parts,
            case when size <= ${MAX_SMALL_PACK_BYTES} then (select bytes from branchpoint.pack_parts where pack = packs.id and part = 0) end as bytes
          from branchpoint.packs join branchpoint.repositories on repositories.id = repository
          where path = $1 and packs.id > $2 order by packs.id limit ${SMALL_PACKS_READ_AT_ONCE}`,
        values: [repository, last],
      })
      for (const pack of packs) {
        const problem = await this.#problemOf(pack)
        if (problem !== undefined) problems.push({ pack: pack.name, problem })
      }
      if (packs.length < SMALL_PACKS_READ_AT_ONCE) return problems
      last = packs.at(-1)?.id ?? last
    }
  }

  /** Contradictions between the journal and the repositories' versions, one phrase per repository. */
  async journalProblems(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#database.query<JournalProblem>({ text: TOLD, timeoutMs: JOURNAL_READ_MS })
    return new Map(
      rows.map(({ path, told, version, times }) => [
        path,
        version === null
          ? `the journal tells of its version ${told}, and it is not there`
          : Number(times) > 1
            ? `the journal tells ${times} times how it came to version ${told}`
            : `the journal tells of its version ${told}, and it is of version ${version}`,
      ]),
    )
  }

  close(): Promise<void> {
    return this.#database.close()
  }

  async #problemOf({ id, name, size, parts, bytes }: PackRow): Promise<string | undefined> {
    const known =
      Number(parts) === 1 && bytes ? inOnePiece(bytes) : partsOf(this.#database, id, Number(parts))
    try {
      return await problemOf(name, Number(size), known)
    } catch (error) {
      if (!(error instanceof NotInLog)) throw error
      const there = await this.#database.query({
        text: 'select from branchpoint.packs where id = $1',
        values: [id],
      })
      // A pack that was replaced by a joined one meanwhile is not missing.
      return there.length === 0 ? undefined : `${error.message} is missing`
    }
  }
}

/** Repositories whose version does not match the journal. */
const TOLD = `
with told as (
  select write ->> 'repository' as path, (write ->> 'version')::bigint as version
    from branchpoint.journal, jsonb_array_elements(what -> 'writes') as write
  union all
  select what -> 'moved' ->> 'repository', (what -> 'moved' ->> 'version')::bigint
    from branchpoint.journal where what ? 'moved'
  union all
  select what -> 'purged' ->> 'repository', (what -> 'purged' ->> 'version')::bigint
    from branchpoint.journal where what ? 'purged'
)
select told.path, told.version as told, repositories.version, count(*) as times
from told left join branchpoint.repositories on repositories.path = told.path
group by told.path, told.version, repositories.version
having count(*) > 1 or repositories.version is null or told.version > repositories.version
order by told.path, told.version
limit 1000`

interface JournalProblem {
  readonly path: string
  readonly told: string
  readonly version: string | null
  readonly times: string
}

interface PackRow {
  readonly id: string
  readonly name: string
  readonly size: string
  readonly parts: string
  /** Only for a small pack. */
  readonly bytes: Buffer | null
}

async function* inOnePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

/** The problem of a pack. Its name, and its last 20 bytes, must be the checksum of all bytes before. */
async function problemOf(
  name: string,
  size: number,
  pieces: AsyncIterable<Buffer>,
): Promise<string | undefined> {
  const hash = createHash('sha1')
  let last = Buffer.alloc(0)
  let length = 0
  for await (const piece of pieces) {
    length += piece.length
    const bytes = Buffer.concat([last, piece])
    const end = Math.max(bytes.length - 20, 0)
    hash.update(bytes.subarray(0, end))
    last = bytes.subarray(end)
  }
  if (length !== size) return `it has ${length} bytes in place of ${size}`
  const checksum = hash.digest()
  if (name === `pack-${checksum.toString('hex')}` && checksum.equals(last)) return undefined
  return 'its bytes are not those it is named after'
}
