import { DEFAULT_PROJECT } from '../../../access/project-name.ts'
import { invalid } from '../../../errors.ts'
import { isDelimiter } from '../../../resources/testsets/import/files/csv-rows.ts'
import type { RowFileType } from '../../../resources/testsets/import/files/file-type.ts'
import { ROW_FILE_TYPES, rowFileType } from '../../../resources/testsets/import/files/file-type.ts'
import { assertSlug } from '../../../versioning/slugs/slug.ts'
import { projectOfKey } from '../../command/ask-server.ts'
import { placeOf, PLACE_USAGE } from '../../command/place.ts'
import { UsageError } from '../../command/usage-error.ts'
import { IMPORT_OPTIONS } from '../../command/verbs.ts'
import { type StoredRows, uploadRows } from './at-server.ts'
import { importRows } from './import-rows.ts'
import { openInput } from './input-file.ts'
import { localAuthor } from './local-author.ts'
import { openTestsets } from './open-testsets.ts'
import { progressLine } from '../../progress/progress-line.ts'
import { readOptions, typeOption } from './read-options.ts'
import { resultLine } from './result-line.ts'
import { showProgress } from '../../progress/show-progress.ts'
import type { TestsetShell } from './open-testsets.ts'

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

${PLACE_USAGE}`

/** Runs `import` with the arguments after it, and answers the line that says what was stored. */
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
  // A server knows its own limit.
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
  /** Of a store, where the default variant is known. */
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
