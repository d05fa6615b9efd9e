import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * A plugin of vite that writes `dist/modules/<name>.json`: the modules of packages in the bundle, as paths from the root of the project, and the
 * names of the modules that the bundler adds itself. THIRD_PARTY_NOTICES is made from these lists.
 */
export function listModules(name: string): Plugin {
  return {
    name: 'list-modules',
    generateBundle(_options, bundle) {
      const ids = Object.values(bundle).flatMap((output) =>
        output.type === 'chunk' ? output.moduleIds : output.originalFileNames,
      )
      const modules = new Set(ids.map(placeOf).filter((place) => place !== undefined))
      mkdirSync(join(ROOT, 'dist', 'modules'), { recursive: true })
      writeFileSync(
        join(ROOT, 'dist', 'modules', `${name}.json`),
        `${JSON.stringify([...modules].sort(), null, 1)}\n`,
      )
    },
  }
}

/** Undefined for a file of the project's own. */
function placeOf(id: string): string | undefined {
  const virtual = /^\0(vite|rolldown)\//.exec(id)
  if (virtual) return id.slice(1)
  const path = relative(ROOT, id.replace(/^\0/, '').replace(/\?.*$/, ''))
  return path.includes('node_modules/') ? path : undefined
}
