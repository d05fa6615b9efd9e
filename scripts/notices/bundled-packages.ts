import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

/** The folder of the lists: a file for each bundle, see `list-modules.ts`. */
export const MODULES = 'dist/modules'

/** A package whose code is in a bundle. */
export interface BundledPackage {
  readonly name: string
  readonly version: string
  /** An SPDX expression. */
  readonly licence: string
  readonly author: string | undefined
  readonly homepage: string | undefined
  /** Its folder below node_modules, from the root of the project. */
  readonly folder: string
  /** The bundles that hold it: folders of `dist`. */
  readonly bundles: readonly string[]
  /** Its modules in these bundles. */
  readonly modules: readonly string[]
}

/** Every package that the lists name, by name and version. */
export function bundledPackages(): readonly BundledPackage[] {
  const found = new Map<string, { readonly bundles: Set<string>; readonly modules: Set<string> }>()
  for (const file of readdirSync(MODULES)) {
    const modules = JSON.parse(readFileSync(join(MODULES, file), 'utf8')) as readonly string[] // as the build writes it
    for (const module of modules) {
      const folder = folderOf(module)
      const known = found.get(folder) ?? { bundles: new Set(), modules: new Set() }
      found.set(folder, known)
      known.bundles.add(basename(file, '.json'))
      known.modules.add(module)
    }
  }
  return [...found]
    .map(([folder, { bundles, modules }]) => ({
      ...described(folder),
      bundles: [...bundles].sort(),
      modules: [...modules],
    }))
    .sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version))
}

/** The module of a package, or one that the bundler adds itself (`vite/preload-helper.js`). */
function folderOf(module: string): string {
  const below = 'node_modules/'
  const at = module.lastIndexOf(below)
  const [first = '', second = ''] = module.slice(at < 0 ? 0 : at + below.length).split('/')
  const name = first.startsWith('@') ? `${first}/${second}` : first
  return `${at < 0 ? below : module.slice(0, at + below.length)}${name}`
}

/** What package.json says; older packages have objects and lists there. */
interface PackageJson {
  readonly name: string
  readonly version: string
  readonly license?: string | { readonly type?: string }
  readonly licenses?: readonly { readonly type?: string }[]
  readonly author?: string | { readonly name?: string }
  readonly homepage?: string
  readonly repository?: string | { readonly url?: string }
}

function described(folder: string): Omit<BundledPackage, 'bundles' | 'modules'> {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) throw new Error(`A bundle holds modules of ${folder}, which has no package.json.`)
  const it = JSON.parse(readFileSync(file, 'utf8')) as PackageJson
  const stated = it.license ?? it.licenses?.map(({ type }) => type).join(' OR ')
  const licence = typeof stated === 'object' ? stated.type : stated
  if (!licence) throw new Error(`${it.name} is in a bundle, and its package.json names no licence.`)
  const repository = typeof it.repository === 'object' ? it.repository.url : it.repository
  return {
    name: it.name,
    version: it.version,
    licence,
    author: typeof it.author === 'object' ? it.author.name : it.author,
    homepage: it.homepage ?? repository,
    folder,
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
