import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { git } from '../../../test/support/git/git-program.ts'
import { STORE } from './open-server.ts'

/** Writes the store of a simulated disk to a real folder and holds every repository against `git fsck --strict`; answers how many. */
export function checkWithGit(fs: Fs): number {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-crash-'))
  try {
    writeOut(fs, STORE, folder)
    let repositories = 0
    for (const family of fs.readDir(`${STORE}/default`) ?? []) {
      for (const name of fs.readDir(`${STORE}/default/${family}`) ?? []) {
        if (!name.endsWith('.git')) continue
        repositories++
        const said = git(join(folder, 'default', family, name), [
          'fsck',
          '--strict',
          '--no-dangling',
          '--no-progress',
        ])
        if (said !== '') throw new Error(`git fsck of ${family}/${name}: ${said}`)
      }
    }
    return repositories
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function writeOut(fs: Fs, from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const name of fs.readDir(from) ?? []) {
    const bytes = fs.readFile(`${from}/${name}`)
    if (bytes) writeFileSync(join(to, name), bytes)
    else writeOut(fs, `${from}/${name}`, join(to, name))
  }
}
