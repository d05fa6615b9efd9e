import type { Command, Shell } from '../command/command.ts'
import { unknownWord } from '../command/read-arguments.ts'
import { VERBS, EXPORT_OPTIONS } from '../command/verbs.ts'
import { IMPORT_USAGE, importTestset } from '../testsets/import-command.ts'
import { DEFAULT_PROJECT } from '../../access/keys.ts'
import { invalid } from '../../errors.ts'
import {
  writeTestsetFile,
  type FileType,
  FILE_TYPES,
  rowFileType,
  isGzipName,
} from '../../registry/testsets.ts'
import type { References } from '../../registry/registries.ts'
import { resolveArtifact, resolveReference, type Revision, readRevisionAt } from '../../registry/revisions.ts'
import { projectOfKey } from '../command/ask-server.ts'
import { placeOf, PLACE_USAGE } from '../command/place.ts'
import { UsageError } from '../command/usage-error.ts'
import { type OpenTestsets, openExistingTestsets, type TestsetShell } from '../testsets/open-testsets.ts'
import { progressLine } from '../command/progress-line.ts'
import { readOptions, typeOption } from '../testsets/read-options.ts'
import { resultLine } from '../testsets/result-line.ts'
import { rowsHeld, testsetOf } from '../testsets/rows-held.ts'
import { showProgress } from '../command/show-progress.ts'
import { downloadRows, rowsOf, type ShownRevision } from '../testsets/at-server.ts'
import { renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { systemProblem } from '../command/system-problem.ts'

const EXPORT_USAGE = `branchpoint testsets export SLUG [--to FILE [--force]] [--type csv|json|jsonl] [--escape-formulas] [--bom]
                           [--variant VARIANT] [--version N] [--revision ID] [--project PROJECT]

  Writes the rows of the testset SLUG to a file; imported again, it gives the same testcases.

  --to        the file, compressed if it ends in .gz; standard output unless given
  --force     replaces a file that exists
  --type      what the file's name says, unless given; csv on standard output
  --variant   the latest revision of this variant instead of the default one
  --version   this version of the variant instead of the latest
  --revision  this revision, by its id or its slug
  --escape-formulas  puts an apostrophe before CSV cells that a spreadsheet would run
  --bom       begins a CSV file with a byte order mark, by which Excel knows that it is UTF-8
  --project   "${DEFAULT_PROJECT}" unless given

  Of a database, a copy is made in the temporary folder meanwhile.

${PLACE_USAGE}

Example:
  branchpoint testsets export cities --to cities.csv`

/** The result of an export: a line for the user, and whether the rows went to standard output. */
interface Exported {
  readonly line: string
  readonly toStandardOutput: boolean
}

/** Runs `testsets export` with the arguments after it. */
export async function exportTestset(args: readonly string[], around: TestsetShell): Promise<Exported> {
  const { environment, progress, signal } = around
  const { word: slug, values: options } = readOptions(args, EXPORT_OPTIONS, {
    usage: EXPORT_USAGE,
    named: 'The slug of the testset to export',
  })
  const { to, force = false } = options
  if (options.revision !== undefined && (options.version ?? options.variant) !== undefined) {
    throw new UsageError('--revision says which one; leave out --version and --variant.', EXPORT_USAGE)
  }
  const references = referencesIn(slug, options)
  const type = typeOption(options.type, FILE_TYPES) ?? typeOf(to)
  if (options.bom && type !== 'csv')
    throw invalid(['--bom'], `it is for csv, and this is ${type}; leave it out.`)
  const output = to === undefined ? outputStream(process.stdout) : outputFile(to, { force })
  const place = placeOf(options, environment, EXPORT_USAGE)
  const file = { type, escapeFormulas: options['escape-formulas'] ?? false, bom: options.bom ?? false }
  const began = performance.now()
  const seconds = (): number => (performance.now() - began) / 1000
  const written = async (
    revision: ShownRevision,
    total: number,
    pieces: AsyncIterable<Buffer>,
  ): Promise<Exported> => {
    const countRows = rowCounter(type)
    let rows = 0
    const stopShowing = showProgress(progress, () =>
      progressLine({ unit: 'rows', done: rows, total, rows, seconds: seconds() }),
    )
    try {
      const bytes = async function* (): AsyncGenerator<Buffer> {
        for await (const piece of pieces) {
          rows = countRows(piece)
          yield piece
        }
      }
      await output.write(bytes(), signal)
    } finally {
      stopShowing()
    }
    const line = resultLine(`Exported ${slug} ${place.shown}`, revision, { rows: total, seconds: seconds() })
    return { line, toStandardOutput: to === undefined }
  }
  if (place.kind === 'server') {
    await projectOfKey(place.server, options.project)
    const { revision, total } = await rowsOf(place.server, requestOf(references))
    return written(revision, total, downloadRows(place.server, revision.id, file, signal))
  }
  const testsets = await openExistingTestsets({
    config: place.config,
    project: options.project ?? DEFAULT_PROJECT,
    signal,
  })
  try {
    const revision = await revisionOf(testsets, slug, references)
    const pieces = writeTestsetFile({
      source: revision.artifact.repository.objects,
      testset: testsetOf(revision),
      testsetId: revision.artifact.id,
      ...file,
    })
    return await written(revision, await rowsHeld(revision), pieces)
  } finally {
    await testsets.close()
  }
}

/** The references in a request. A version without revision or variant is one of the default variant. */
function requestOf({ artifact, variant, revision }: References): object {
  const { version } = variant ?? artifact ?? {}
  return {
    testset_ref: { slug: artifact?.slug },
    ...(variant ? { testset_variant_ref: { slug: variant.slug } } : {}),
    ...(revision
      ? { testset_revision_ref: revision }
      : version === undefined
        ? {}
        : { testset_revision_ref: { version } }),
  }
}

function referencesIn(
  slug: string,
  { version, revision, variant }: Readonly<Partial<Record<'version' | 'revision' | 'variant', string>>>,
): References {
  const artifact = { slug }
  if (revision !== undefined)
    return { artifact, revision: UUID.test(revision) ? { id: revision.toLowerCase() } : { slug: revision } }
  const number = version === undefined ? undefined : versionNumber(version)
  return variant === undefined
    ? { artifact: { slug, version: number } }
    : { artifact, variant: { slug: variant, version: number } }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function versionNumber(text: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text)
  throw invalid(['--version'], `"${text}" is not a version; give a whole number from 1 on.`)
}

function typeOf(to: string | undefined): FileType {
  const type = to === undefined ? 'csv' : rowFileType({ name: to })
  if (type !== undefined && type !== 'xlsx') return type
  throw invalid(
    ['--type'],
    `say whether the file is to be csv, json or jsonl; the name "${to}" does not tell.`,
  )
}

async function revisionOf(
  { registry, family }: OpenTestsets,
  slug: string,
  references: References,
): Promise<Revision> {
  // Resolved first, so that an unknown testset is reported as such.
  const { id } = await resolveArtifact(registry, family, { slug })
  const place = await resolveReference(registry, family, references)
  if (place.artifact.id === id) return readRevisionAt(place)
  throw invalid(['--revision'], `it is a revision of the testset "${place.artifact.slug}", not of "${slug}".`)
}

/** The target of an export. */
interface OutputFile {
  /** Writes everything. A file gets its name only at the end; after an error or abort nothing of it remains. */
  write(bytes: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void>
}

/** A file, compressed if its name ends in `.gz`. Refuses an existing file without `force`. */
export function outputFile(path: string, { force }: { readonly force: boolean }): OutputFile {
  const refuseTaken = (): void => {
    const there = statSync(path, { throwIfNoEntry: false })
    if (there && !there.isFile())
      throw invalid(['--to'], `"${path}" is there and is not a file; name another one.`)
    if (there && !force) throw invalid(['--to'], `"${path}" exists; add --force to replace it.`)
  }
  refuseTaken()
  const temporary = `${path}.${process.pid}.part`
  return {
    write: async (bytes, signal) => {
      try {
        // Opened here, because a stream could open the file after an abort has removed it.
        const file = (await open(temporary, 'wx')).createWriteStream()
        await (isGzipName(path)
          ? pipeline(bytes, createGzip(), file, { signal })
          : pipeline(bytes, file, { signal }))
        refuseTaken()
        renameSync(temporary, path)
      } catch (error) {
        rmSync(temporary, { force: true })
        const problem = systemProblem(error)
        throw problem === undefined ? error : invalid(['--to'], `"${path}" cannot be written: ${problem}.`)
      }
    },
  }
}

/** A stream that stays open, such as standard output. */
function outputStream(stream: Writable): OutputFile {
  return { write: (bytes, signal) => pipeline(bytes, stream, { signal, end: false }) }
}

/**
 * Answers a function that takes the bytes of a file and returns the number of complete rows so far, for a progress display. Does not
 * validate: for an invalid file the number means nothing.
 */
export function rowCounter(type: FileType): (bytes: Uint8Array) => number {
  return type === 'csv' ? csvRowCounter() : jsonRowCounter(type === 'json' ? 1 : 0)
}

/** Counts line breaks outside quotes. An escaped quote is two quotes, so counting quotes still works. */
function csvRowCounter(): (bytes: Uint8Array) => number {
  let isQuoted = false
  let isBlank = true
  let lines = 0
  return (bytes) => {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) isQuoted = !isQuoted
      if (byte !== LINE_FEED) isBlank = isBlank && byte === CARRIAGE_RETURN
      else if (!isQuoted) {
        if (!isBlank) lines++
        isBlank = true
      }
    }
    return Math.max(0, lines - 1) // without the header
  }
}

/** A row is an object inside this many arrays. */
function jsonRowCounter(arrays: number): (bytes: Uint8Array) => number {
  let isText = false
  let isEscaped = false
  let depth = 0
  let rows = 0
  return (bytes) => {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isText = false
      } else if (byte === QUOTE) isText = true
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth--
        if (byte === CLOSE_BRACE && depth === arrays) rows++
      }
    }
    return rows
  }
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

const USAGE = `Files of rows into testsets, and out of them.

${IMPORT_USAGE}

${EXPORT_USAGE}`

export const testsetsCommand: Command = {
  usage: USAGE,
  usageOf: { import: IMPORT_USAGE, export: EXPORT_USAGE },
  needsWords: true,
  stopped: ([command]) => (command === 'import' ? 'Stopped; nothing was stored.' : 'Stopped.'),
  run,
}

async function run([command = '', ...args]: readonly string[], shell: Shell): Promise<number> {
  const { words } = VERBS.testsets
  if (!words.some((word) => word === command)) throw unknownWord(command, words, USAGE)
  if (command === 'import') {
    shell.print(await importTestset(args, shell))
    return 0
  }
  const { line, toStandardOutput } = await exportTestset(args, shell)
  if (toStandardOutput) process.stderr.write(`${line}\n`)
  else shell.print(line)
  return 0
}
