import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'

/**
 * The flags of Node that a process which runs `main` needs to be harmless: it may read the code it consists of and no other file, write
 * none, start no program, load no add-on, make no code out of strings, and WebAssembly in it gets no more memory than `memoryBytes`.
 */
export function interpreterFlags(main: string, memoryBytes: number): readonly string[] {
  return [
    PERMISSION,
    // a thread of its own kills it when the server is gone
    '--allow-worker',
    ...readablePaths(main).map((path) => `--allow-fs-read=${path}`),
    '--disallow-code-generation-from-strings',
    '--no-addons',
    '--no-warnings',
    `--max-old-space-size=${HEAP_MB}`,
    `--wasm-max-mem-pages=${Math.ceil(memoryBytes / WASM_PAGE) + SPARE_PAGES}`,
  ]
}

/** Node 20 calls it an experiment. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission'

/** JavaScript's own memory: the interpreters' loaders, arguments and results. */
const HEAP_MB = 192
const WASM_PAGE = 65_536
/** So that QuickJS, which counts for itself, meets its own limit first and can say so. */
const SPARE_PAGES = 256

const PACKAGES = ['pyodide', 'quickjs-emscripten', '@swc/wasm-typescript']

/** Our code for it, and the packages; where those are links, what they point to, too. */
function readablePaths(main: string): readonly string[] {
  const require = createRequire(import.meta.url)
  const paths = new Set([join(dirname(main), sep)])
  for (const folder of foldersAbove(main)) {
    paths.add(join(folder, 'node_modules', sep))
    paths.add(join(folder, 'package.json'))
  }
  for (const name of PACKAGES) {
    const file = require.resolve(name)
    paths.add(file.slice(0, file.lastIndexOf(NODE_MODULES) + NODE_MODULES.length))
  }
  return [...paths]
}

const NODE_MODULES = `${sep}node_modules${sep}`

function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path)
  return folder === path ? [] : [folder, ...foldersAbove(folder)]
}
