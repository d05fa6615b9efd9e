import { DEFAULT_PROJECT, type KeyAuthor, keyAuthor } from '../../access/keys.ts'
import { invalid, Refusal } from '../../errors.ts'
import {
  isDelimiter,
  type RowFileType,
  ROW_FILE_TYPES,
  rowFileType,
  collectFile,
  type RowFile,
  type Uploaded,
  commitFile,
} from '../../registry/testsets.ts'
import {
  assertSlug,
  type ArtifactView,
  assertArtifactSlugFree,
  createArtifact,
  editArtifact,
} from '../../registry/artifacts.ts'
import { projectOfKey } from '../command/ask-server.ts'
import { placeOf, PLACE_USAGE } from '../command/place.ts'
import { UsageError } from '../command/usage-error.ts'
import { IMPORT_OPTIONS } from '../command/verbs.ts'
import { type StoredRows, uploadRows } from './at-server.ts'
import { openTestsets, type TestsetShell, type OpenTestsets } from './open-testsets.ts'
import { progressLine } from '../command/progress-line.ts'
import { readOptions, typeOption } from './read-options.ts'
import { resultLine } from './result-line.ts'
import { showProgress } from '../command/show-progress.ts'
import { spawnSync } from 'node:child_process'
import { userInfo } from 'node:os'
import { open } from 'node:fs/promises'
import { type Readable, addAbortSignal } from 'node:stream'
import { systemProblem } from '../command/system-problem.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import {
  assertActive,
  type Revision,
  type RevisionLocation,
  latestOf,
  readRevisionAt,
} from '../../registry/revisions.ts'
import { rowsHeld } from './rows-held.ts'

export const IMPORT_USAGE = `branchpoint testsets import FILE --slug SLUG [--type csv|json|jsonl|xlsx] [--infer] [--delimiter CHARACTER]
                           [--sheet SHEET] [--allow-empty] [--name NAME] [--message MESSAGE] [--if-changed]
                           [--project PROJECT]

  Makes the testset SLUG of the rows of a file. If there is one already, the rows become a new revision of its default
  variant, whatever the one before held. A file that is refused, and Ctrl-C, store nothing.

  FILE       - is standard input; what is compressed with gzip is decompressed
  --type     what the file's name says, unless given; an .xlsx file is known by its bytes
  --infer    cells that look like JSON values become those, numbers and booleans of a sheet stay such; they are texts
             otherwise. A row whose __dedup_id__ is there keeps the value and the type of each cell that was not edited
  --delimiter    what separates the cells of a CSV file, where the file does not show it
  --sheet        which sheet of an .xlsx file; the first unless given
  --allow-empty  a file without rows is meant; it is refused otherwise
  --name     what the testset is called; of one that is there already, what it is called from now on
  --message  of the commit
  --if-changed   no revision is made where the testset has these very rows already
  --project  "${DEFAULT_PROJECT}" unless given; a new name makes a new project. A server works in the key's

  In a store, the author of the commit is git's user.name and user.email where git has them (git config), else your user
  name on this machine; at a server it is the key. Of a database, a copy is made in the temporary folder meanwhile.
  Servers may run on a store; they show the rows at once.

${PLACE_USAGE}

Example:
  branchpoint testsets import cities.csv --slug cities`

/** Runs `testsets import` with the arguments after it; answers the result line. */
export async function importTestset(args: readonly string[], around: TestsetShell): Promise<string> {
  const { environment, progress, signal } = around
  const { word: path, values } = readOptions(args, IMPORT_OPTIONS, {
    usage: IMPORT_USAGE,
    named: 'The file to import',
  })
  const { slug, name, message, infer = false, delimiter, sheet } = values
  const { 'if-changed': ifChanged = false } = values
  if (slug === undefined) throw new UsageError('import needs --slug.', IMPORT_USAGE)
  assertSlug(slug, ['--slug'])
  const type = typeOption(values.type, ROW_FILE_TYPES) ?? typeOf(path)
  if (delimiter !== undefined && !isDelimiter(delimiter))
    throw invalid(['--delimiter'], `"${delimiter}" is not one character that can separate cells.`)
  const place = placeOf(values, environment, IMPORT_USAGE)
  const began = performance.now()
  const seconds = (): number => (performance.now() - began) / 1000
  // A server checks its own limit.
  const maxBytes = place.kind === 'store' ? place.config.uploadMaxBytes : Number.POSITIVE_INFINITY
  const file = await openInput(path, { signal, maxBytes })
  let rows = 0
  const stopShowing = showProgress(progress, () =>
    progressLine({ unit: 'bytes', done: file.taken(), total: file.size, rows, seconds: seconds() }),
  )
  try {
    if (place.kind === 'server') {
      await projectOfKey(place.server, values.project)
      const stored = await uploadRows(place.server, {
        ...{ slug, type, signal },
        chunks: file.chunks(),
        fields: {
          ...{ message, delimiter, sheet, testset_name: name },
          types: infer ? 'infer' : undefined,
          allow_empty: values['allow-empty'] ? 'true' : undefined,
          if_changed: ifChanged ? 'true' : undefined,
        },
      })
      return describe({ ...stored, variant: undefined }, slug, place.shown, seconds())
    }
    const testsets = await openTestsets({
      config: place.config,
      project: values.project ?? DEFAULT_PROJECT,
      signal,
    })
    try {
      const imported = await importRows(testsets, {
        slug,
        name,
        message,
        ifChanged,
        author: localAuthor(),
        signal,
        file: {
          type,
          infer,
          delimiter,
          sheet,
          allowEmpty: values['allow-empty'] ?? false,
          maxBytes,
          chunks: () => file.chunks(),
          onRows: (read) => {
            rows = read
          },
        },
      })
      const { met, renamed } = imported.file
      const variant = imported.revision.variant.slug
      return describe({ ...imported, met, renamed, variant }, slug, place.shown, seconds())
    } finally {
      await testsets.close()
    }
  } finally {
    file.close()
    stopShowing()
  }
}

function typeOf(path: string): RowFileType {
  const type = rowFileType({ name: path })
  if (type !== undefined) return type
  const why = path === '-' ? 'standard input has no name to tell' : `the name "${path}" does not tell`
  throw invalid(['--type'], `say whether the rows are csv, json, jsonl or xlsx; ${why}.`)
}

interface Imported extends StoredRows {
  /** Set for a store, where the default variant is known. */
  readonly variant: string | undefined
}

function describe(
  { isNew, changed, revision, rows, variant, met, renamed }: Imported,
  slug: string,
  where: string,
  seconds: number,
): string {
  const target = variant === undefined ? slug : `${slug} on its variant ${variant}`
  const committed = changed ? `Committed to ${target}` : `Nothing changed in ${target}`
  const done = isNew ? `Created ${slug}` : committed
  const notes = [
    met.collapsed > 0 && `${met.collapsed} equal rows collapsed`,
    met.replaced > 0 && `${met.replaced} rows replaced by a later one of their dedup id`,
    ...renamed.map(({ from, to }) => `column ${JSON.stringify(from)} is called ${JSON.stringify(to)}`),
  ].filter((note) => note !== false)
  return [
    resultLine(`${done} ${where}`, revision, { rows, seconds }),
    ...notes.map((note) => `  ${note}`),
  ].join('\n')
}

/**
 * The user as the author of the commit: git's `user.name` and `user.email` if set, or the user name of this machine. Refuses a name that git
 * cannot store.
 */
function localAuthor(): KeyAuthor {
  try {
    return keyAuthor(gitConfig('user.name') ?? userName(), gitConfig('user.email'))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal(error.code, `${error.message} ${REMEDY}`, error.data)
  }
}

const REMEDY = 'Set the author with git config user.name and git config user.email.'

/** Undefined if it is not set or git is missing. */
function gitConfig(name: string): string | undefined {
  const { status, stdout } = spawnSync('git', ['config', '--get', name], { encoding: 'utf8' })
  return (status === 0 && stdout.trim()) || undefined
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // a container may run under a user id without a user
    throw new Refusal('invalid_request', `Neither git nor this machine has a name for you. ${REMEDY}`)
  }
}

/** A file that is read once, from start to end. */
interface InputFile {
  /** The path on the command line. */
  readonly path: string
  /** Undefined for input without a size, such as a pipe. */
  readonly size: number | undefined
  /** The number of bytes read so far. */
  readonly taken: () => number
  chunks(): AsyncGenerator<Buffer>
  /** Closes a file that was not read to its end. */
  close(): void
}

interface InputOptions {
  /** Ends reading with an AbortError, even while it waits for input. */
  readonly signal: AbortSignal
  readonly maxBytes: number
}

/** Opens a file, or standard input for `-`. Refuses what cannot be read or is larger than the limit. */
async function openInput(path: string, { signal, maxBytes }: InputOptions): Promise<InputFile> {
  const { stream, size } = path === '-' ? { stream: process.stdin, size: undefined } : await openFile(path)
  if (size !== undefined && size > maxBytes) {
    stream.destroy()
    throw tooLarge(path, maxBytes)
  }
  let taken = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<Buffer>) {
      taken += chunk.length
      yield chunk
    }
  }
  return {
    path,
    size,
    taken: () => taken,
    close: () => stream.destroy(),
    chunks: async function* () {
      let given = 0
      try {
        for await (const chunk of counted()) {
          given += chunk.length
          if (given > maxBytes) throw tooLarge(path, maxBytes)
          yield chunk
        }
      } catch (error) {
        throw readingProblem(path, error)
      }
    },
  }
}

async function openFile(path: string): Promise<{ stream: Readable; size: number | undefined }> {
  try {
    const file = await open(path)
    const stats = await file.stat()
    if (stats.isDirectory()) {
      await file.close()
      throw invalid(['file'], `"${path}" is a folder; name a file of rows.`)
    }
    return { stream: file.createReadStream(CHUNKS), size: stats.isFile() ? stats.size : undefined }
  } catch (error) {
    throw readingProblem(path, error)
  }
}

const CHUNKS = { highWaterMark: 256 * 1024 }

function readingProblem(path: string, error: unknown): unknown {
  const problem = systemProblem(error)
  return problem === undefined ? error : invalid(['file'], `"${path}" cannot be read: ${problem}.`)
}

function tooLarge(path: string, maxBytes: number): Refusal {
  return new Refusal(
    'limit_exceeded',
    `"${path}" holds more than ${maxBytes} bytes, the limit of this service for a file; split it, or set UPLOAD_MAX_BYTES.`,
    { details: { limit_bytes: maxBytes } },
  )
}

interface RowImport {
  readonly file: RowFile
  readonly slug: string
  readonly name: string | undefined
  readonly message: string | undefined
  /** Whether rows that the testset already has make no new revision. */
  readonly ifChanged?: boolean
  readonly author: KeyAuthor
  readonly signal: AbortSignal
}

/** The result of an import. */
export interface ImportedRows {
  /** Whether the testset was created. */
  readonly isNew: boolean
  /** Whether a revision was created. */
  readonly changed: boolean
  readonly revision: Revision
  readonly rows: number
  /** How rows and columns of the file were adjusted. */
  readonly file: Uploaded['file']
}

/**
 * Creates a testset from a file's rows, or a new revision if a testset has the slug. Refuses an invalid file, a slug that differs from an
 * existing one only in case, and an archived testset. After a refusal or an abort nothing is stored.
 */
export async function importRows(testsets: OpenTestsets, wanted: RowImport): Promise<ImportedRows> {
  const { registry, family } = testsets
  const { slug } = wanted
  const found = await registry.index.findBySlug(family, slug)
  // Refuse before a large file is read.
  if (found) assertActive('artifact', slug, found.record)
  else await assertArtifactSlugFree(registry, family, slug, ['--slug'])
  const { place, changed, file } = found
    ? await commitTo(testsets, found, wanted)
    : await create(testsets, wanted)
  const revision = await readRevisionAt(place)
  return { isNew: !found, changed, revision, rows: await rowsHeld(revision), file }
}

interface StoredImport extends Uploaded {
  readonly place: RevisionLocation
  readonly changed: boolean
}

async function create(
  { registry, family, limits }: OpenTestsets,
  { slug, name, file, message, author, signal }: RowImport,
): Promise<StoredImport> {
  const aside = await registry.store.prepare(family.folder)
  try {
    const payload = await collectFile(file, aside.packBuilder(), undefined, limits, new TimeSlice(signal))
    const revision = { message, payload }
    const artifact = await createArtifact(
      registry,
      family,
      { slug, header: { name }, withVariant: { revision }, aside, loc: ['--slug'] },
      { actor: actorOf(author) },
    )
    return { place: await firstRevisionOf(artifact), changed: true, file: payload }
  } finally {
    aside.discard()
  }
}

async function firstRevisionOf(artifact: ArtifactView): Promise<RevisionLocation> {
  const place = artifact.defaultVariant && (await latestOf(artifact, artifact.defaultVariant))
  if (place) return place
  throw new Error(`the testset ${artifact.slug} was made without a revision`)
}

async function commitTo(
  testsets: OpenTestsets,
  artifact: ArtifactView,
  wanted: RowImport,
): Promise<StoredImport> {
  const { registry, limits } = testsets
  const { file, name, message, ifChanged, author, signal } = wanted
  const context = { actor: actorOf(author) }
  const variant = artifact.defaultVariant
  if (variant) assertActive('variant', variant.slug, variant.record)
  const input = { message, header: {}, loc: [], ifChanged }
  const {
    revision: place,
    changed,
    file: came,
  } = await commitFile(
    registry,
    { artifact, ...(variant ? { variant } : {}) },
    file,
    input,
    limits,
    context,
    signal,
  )
  if (name === undefined || name === artifact.record.name) return { place, changed, file: came }
  const renamed = await editArtifact(registry, place.artifact, { name }, context)
  return { place: { ...place, artifact: renamed }, changed, file: came }
}

/** Without an API key, the user is identified by the author in the commits, as with a push. */
function actorOf({ name, email }: KeyAuthor) {
  return { id: `${name} <${email}>`, name, email }
}
