import { DEFAULT_PROJECT } from '../../../access/project-name.ts'
import { invalid } from '../../../errors.ts'
import { isDelimiter } from '../../../resources/testsets/import/files/csv-rows.ts'
import type { RowFileType } from '../../../resources/testsets/import/files/file-type.ts'
import { ROW_FILE_TYPES, rowFileType } from '../../../resources/testsets/import/files/file-type.ts'
import { assertSlug } from '../../../versioning/slugs/slug.ts'
import { UsageError } from '../../command/usage-error.ts'
import { IMPORT_OPTIONS } from '../../command/verbs.ts'
import type { ImportedRows } from './import-rows.ts'
import { importRows } from './import-rows.ts'
import { openInput } from './input-file.ts'
import { localAuthor } from './local-author.ts'
import { openTestsets } from './open-testsets.ts'
import { progressLine } from '../../progress/progress-line.ts'
import { readOptions, typeOption } from './read-options.ts'
import { resultLine } from './result-line.ts'
import { showProgress } from '../../progress/show-progress.ts'
import type { Surroundings } from '../../command/command.ts'

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
  --project  "${DEFAULT_PROJECT}" unless given; a new name makes a new project

  The author of the commit is git's user.name and user.email where git has them (git config), else your user name on this
  machine. The store is the folder in STORE_DIR (./store unless set), or the database in STORE, of which a copy is made
  in the temporary folder meanwhile. Servers may run on it; they show the rows at once.`

/** Runs `import` with the arguments after it, and answers the line that says what was stored. */
export async function importTestset(args: readonly string[], around: Surroundings): Promise<string> {
  const { config, progress, signal } = around
  const { word: path, values } = readOptions(args, IMPORT_OPTIONS, {
    usage: IMPORT_USAGE,
    named: 'The file to import',
  })
  const { slug, name, message, infer = false, delimiter, sheet, project = DEFAULT_PROJECT } = values
  const { 'if-changed': ifChanged = false } = values
  if (slug === undefined) throw new UsageError('import needs --slug.', IMPORT_USAGE)
  assertSlug(slug, ['--slug'])
  const type = typeOption(values.type, ROW_FILE_TYPES) ?? typeOf(path)
  if (delimiter !== undefined && !isDelimiter(delimiter))
    throw invalid(['--delimiter'], `"${delimiter}" is not one character that can separate cells.`)
  const author = localAuthor()
  const began = performance.now()
  const seconds = (): number => (performance.now() - began) / 1000
  const file = await openInput(path, { signal, maxBytes: config.uploadMaxBytes })
  let rows = 0
  const stopShowing = showProgress(progress, () =>
    progressLine({ unit: 'bytes', done: file.taken(), total: file.size, rows, seconds: seconds() }),
  )
  try {
    const testsets = await openTestsets({ config, project, signal })
    try {
      const imported = await importRows(testsets, {
        slug,
        name,
        message,
        ifChanged,
        author,
        signal,
        file: {
          type,
          infer,
          delimiter,
          sheet,
          allowEmpty: values['allow-empty'] ?? false,
          maxBytes: config.uploadMaxBytes,
          chunks: () => file.chunks(),
          onRows: (read) => {
            rows = read
          },
        },
      })
      return describe(imported, slug, seconds())
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

function describe(
  { isNew, changed, revision, rows, file }: ImportedRows,
  slug: string,
  seconds: number,
): string {
  const variant = `${slug} on its variant ${revision.variant.slug}`
  const committed = changed ? `Committed to ${variant}` : `Nothing changed in ${variant}`
  const done = isNew ? `Created ${slug}` : committed
  const { met, renamed } = file
  const notes = [
    met.collapsed > 0 && `${met.collapsed} equal rows collapsed`,
    met.replaced > 0 && `${met.replaced} rows replaced by a later one of their dedup id`,
    ...renamed.map(({ from, to }) => `column ${JSON.stringify(from)} is called ${JSON.stringify(to)}`),
  ].filter((note) => note !== false)
  return [resultLine(done, revision, { rows, seconds }), ...notes.map((note) => `  ${note}`)].join('\n')
}
