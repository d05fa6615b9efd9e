import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Nothing is built again while tests run from what is built. */
const NO_SCRIPTS = '--ignore-scripts'

/** What npm says of a tarball. */
export interface PackedRecord {
  readonly name: string
  readonly version: string
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string; readonly size: number; readonly mode: number }[]
}

/** Runs an npm command that packs this checkout, and answers its record. */
export async function npmPack(...args: readonly string[]): Promise<PackedRecord> {
  const { stdout } = await run('npm', [...args, NO_SCRIPTS, '--json'], { maxBuffer: 16 * 1024 ** 2 })
  const read: unknown = JSON.parse(stdout)
  // npm pack answers a list, npm publish a record; newer versions of npm have it under the name of the package.
  const [first] = Object.values(Array.isArray(read) ? read : isRecordOfPackage(read) ? [read] : Object(read))
  return first as PackedRecord
}

function isRecordOfPackage(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'files' in value
}

/** The packages that npm installs with the package, by their folders, from the lock file. */
export function installedPackages(): readonly string[] {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock // as npm writes it
  return Object.entries(lock.packages)
    .filter(([folder, { dev, link }]) => folder.startsWith('node_modules/') && !dev && !link)
    .map(([folder]) => folder)
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly link?: boolean }>>
}

/** Unpacks a tarball, and puts beside it the packages that npm would install, and no others. Answers the folder of the package. */
export async function unpack(tarball: string, folder: string): Promise<string> {
  await run('tar', ['xzf', tarball], { cwd: folder })
  for (const name of installedPackages()) {
    if (!existsSync(name)) continue // the library of another platform
    const link = join(folder, 'package', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(resolve(name), link)
  }
  return join(folder, 'package')
}
