import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../../scripts/proofs/support/git-program.ts'

/** A new folder that is removed after the tests of the current `describe`. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-git-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A new bare repository with `revisions` commits on main, each changing `data.json`. Answers its folder. */
export function repositoryWithHistory(revisions: number): string {
  const folder = temporaryFolder()
  git(folder, ['init', '--quiet', '--bare', '--initial-branch=main', '.'])
  let stream = ''
  for (let number = 1; number <= revisions; number++) {
    const lines = Array.from({ length: 40 }, (_, line) => `  "line${line}": "text of line ${line}",\n`)
    const data = `{\n${lines.join('')}  "revision": ${number}\n}\n`
    stream +=
      `commit refs/heads/main\ncommitter Ann <ann@example.com> ${1_700_000_000 + number} +0000\n` +
      `data <<END\nChange ${number}\n\nVariant: main\nEND\n` +
      `M 100644 inline data.json\ndata ${data.length}\n${data}\n`
  }
  git(folder, ['-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet'], stream)
  return folder
}
