import { DEFAULT_PROJECT } from '../../../access/project-name.ts'
import { invalid } from '../../../errors.ts'
import type { FileType } from '../../../resources/testsets/import/collect-file.ts'
import { assertSlug } from '../../../versioning/slugs/slug.ts'
import { UsageError } from '../../command/usage-error.ts'
import { IMPORT_OPTIONS } from '../../command/verbs.ts'
import { typeByName } from './file-type.ts'
import type { ImportedRows } from './import-rows.ts'
import { importRows } from './import-rows.ts'
import { openInput } from './input-file.ts'
import { localAuthor } from './local-author.ts'
import { openTestsets } from './open-testsets.ts'
import { progressLine } from '../../progress/progress-line.ts'
import { readOptions, typeOption } from './read-options.ts'
import { resultLine } from './result-line.ts'
import { rowCounter } from './row-counter.ts'
import { showProgress } from '../../progress/show-progress.ts'
import type { Surroundings } from '../../command/command.ts'

export const IMPORT_USAGE = `branchpoint testsets import FILE --slug SLUG [--type csv|json|jsonl] [--infer] [--name NAME]
                           [--message MESSAGE] [--project PROJECT]

  Makes the testset SLUG of the rows of a file. If there is one already, the rows become a new revision of its default
  variant, whatever the one before held. A file that is refused, and Ctrl-C, store nothing.

  FILE       - is standard input; a file that ends in .gz is inflated
  --type     what the file's name says, unless given
  --infer    cells of a CSV file that look like JSON values become those; they are texts otherwise
  --name     what the testset is called; of one that is there already, what it is called from now on
  --message  of the commit
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
  const { slug, name, message, infer = false, project = DEFAULT_PROJECT } = values
  if (slug === undefined) throw new UsageError('import needs --slug.', IMPORT_USAGE)
  assertSlug(slug, ['--slug'])
  const type = typeOption(values.type) ?? typeOf(path)
  const author = localAuthor()
  const began = performance.now()
  const seconds = (): number => (performance.now() - began) / 1000
  const file = await openInput(path, { signal, maxBytes: config.uploadMaxBytes })
  const countRows = rowCounter(type)
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
        author,
        signal,
        file: {
          type,
          infer,
          chunks: async function* () {
            for await (const chunk of file.chunks()) {
              rows = countRows(chunk)
              yield chunk
            }
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

function typeOf(path: string): FileType {
  const type = typeByName(path)
  if (type !== undefined) return type
  const why = path === '-' ? 'standard input has no name to tell' : `the name "${path}" does not tell`
  throw invalid(['--type'], `say whether the rows are csv, json or jsonl; ${why}.`)
}

function describe({ isNew, revision, rows }: ImportedRows, slug: string, seconds: number): string {
  const done = isNew ? `Created ${slug}` : `Committed to ${slug} on its variant ${revision.variant.slug}`
  return resultLine(done, revision, { rows, seconds })
}
