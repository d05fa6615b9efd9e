import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { formatFile } from './fmt/format-file.ts'

const USAGE = `Write the JSON files of a clone as the service does, so that a push of them is taken.

  npm run fmt -- DIR

Rows of a testset (testcases/…) become canonical JSON and a newline, and get a testcase_dedup_id if they have none;
data.json, references.json, columns.json and revision.json are indented by two spaces. Nothing else is touched. Each file
that was changed is named; a file that holds no JSON is named too, and makes the exit code 1.`

const [dir, ...rest] = process.argv.slice(2)
if (dir === undefined || rest.length > 0 || dir.startsWith('-')) {
  const isAskedFor = dir === '--help' || dir === '-h'
  process[isAskedFor ? 'stdout' : 'stderr'].write(`${USAGE}\n`)
  process.exitCode = isAskedFor ? 0 : 1
} else format(dir)

async function format(name: string): Promise<void> {
  // npm runs scripts in the package's folder, and tells where it was called.
  const root = resolve(process.env['INIT_CWD'] ?? '.', name)
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    process.stderr.write(`There is no folder ${root}.\n`)
    process.exitCode = 1
    return
  }
  let [changed, unreadable] = [0, 0]
  for (const path of jsonFiles(root)) {
    const bytes = readFileSync(join(root, path))
    try {
      const formatted = await formatFile(path, bytes)
      if (!formatted || formatted.equals(bytes)) continue
      writeFileSync(join(root, path), formatted)
      changed++
      process.stdout.write(`${path}\n`)
    } catch (error) {
      unreadable++
      process.stderr.write(`${path}: ${error instanceof Error ? error.message : String(error)}\n`)
    }
  }
  process.stdout.write(
    `${changed} files changed${unreadable > 0 ? `, ${unreadable} left that hold no JSON` : ''}\n`,
  )
  if (unreadable > 0) process.exitCode = 1
}

/** Those in the root and those of rows, seen from the root. */
function* jsonFiles(root: string): Generator<string> {
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (entry.isFile() && entry.name.endsWith('.json')) yield entry.name
    if (!entry.isDirectory() || entry.name !== 'testcases') continue
    for (const path of readdirSync(join(root, entry.name), { recursive: true, encoding: 'utf8' }).sort()) {
      if (path.endsWith('.json') && statSync(join(root, entry.name, path)).isFile()) {
        yield `testcases/${path.replaceAll('\\', '/')}`
      }
    }
  }
}
