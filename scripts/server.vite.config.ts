import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { listModules } from './notices/list-modules.ts'

/**
 * The program as few files: main.js and cli/main.js, which tsc has made of their modules, and dist/server, where the rest lies. A start
 * loads it in a third of the time that a file for each module takes (decision 38).
 */

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Packages that an installation brings: they have files beside their modules (native code, WebAssembly, programs of threads). All others are
 * in the bundle, so they are devDependencies of package.json.
 */
const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly dependencies?: Readonly<Record<string, string>>
}

/** How a module names the program of a thread beside it, as prettier writes it and as the compiler prints it. */
const PROGRAM = /new URL\(\s*(['"`])(\.[^'"`]+)\.js\1,\s*import\.meta\.url\)/g

/** How a module names itself, for a thread that is to load it. */
const ITSELF = /new URL\(import\.meta\.url\)/g

/** How a module reads a JSON file of a package. */
const PACKAGE_JSON_FILE = /createRequire\(import\.meta\.url\)\((['"`])([^'"`.][^'"`]*\.json)\1\)/g

/**
 * The programs of threads, and what they load: in the bundle each is one file with what it needs, and no more, though doors of rooms pass on
 * more than that.
 */
const THREADS = [
  'src/base/scheduling/aside-thread.ts',
  'src/feeds/search/index/search-thread.ts',
  'src/feeds/traces/storage/trace-thread.ts',
  'src/registry/documents/document-job.ts',
  'src/registry/embeds/syntax/find-embeds.ts',
  'src/registry/testsets/files/xlsx-thread.ts',
  'src/run/handlers/worker/long-job-thread.ts',
].filter((path) => existsSync(join(root, path)))

export default defineConfig({
  root,
  publicDir: false,
  // As text for JSON.parse, which is much faster than code: koa's tables of media types.
  json: { stringify: true },
  ssr: { noExternal: true, external: Object.keys(dependencies) },
  build: {
    ssr: true,
    outDir: 'dist',
    emptyOutDir: false,
    target: 'es2023',
    sourcemap: true,
    rolldownOptions: {
      input: {
        main: 'src/main.ts',
        'cli/main': 'src/cli/main.ts',
        ...Object.fromEntries(THREADS.map((path) => [basename(path, '.ts'), path])),
      },
      // Modules of ours do nothing as they are loaded, so what a door passes on and a program does not use is left out of it.
      treeshake: {
        moduleSideEffects: [
          { test: /\/src\/(?!web\/|(?:cli\/)?main\.)/, external: false, sideEffects: false },
        ],
      },
      output: {
        entryFileNames: ({ name }) => (name.endsWith('main') ? 'src/[name].js' : 'server/[name].js'),
        chunkFileNames: 'server/[name]-[hash].js',
        // What every command that asks a server loads is one file.
        codeSplitting: {
          groups: [
            {
              name: 'command',
              test: /\/src\/cli\/command\/(?:terminal|text-table|verbs|ask-server|chosen-server)\.ts$/,
            },
          ],
        },
        sourcemapExcludeSources: true,
        // Without comments and white space, which would have to be read; names stay, as errors and logs show them.
        minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
      },
    },
  },
  plugins: [
    listModules('server'),
    {
      name: 'places',
      /** What a module finds beside itself (a thread's program, package.json) stays beside what tsc made of it. */
      transform(code, id) {
        const place = relative(root, id).replace(/\.ts$/, '.js')
        if (!place.startsWith('src/') || !code.includes('import.meta.url')) return
        const withThreads = code.replace(PROGRAM, (whole, _quote: string, path: string) => {
          const program = relative(root, join(dirname(id), `${path}.ts`))
          return THREADS.includes(program)
            ? `new URL('../server/${basename(path)}.js', import.meta.here)`
            : whole
        })
        const itself = `new URL('../server/${basename(place)}', import.meta.here)`
        return {
          code: withThreads
            .replace(PACKAGE_JSON_FILE, (_, _quote: string, path: string) =>
              readFileSync(createRequire(id).resolve(path), 'utf8'),
            )
            .replaceAll(ITSELF, THREADS.includes(relative(root, id)) ? itself : '$&')
            .replaceAll('import.meta.url', `new URL('../${place}', import.meta.url).href`)
            .replaceAll('import.meta.here', 'import.meta.url'),
          map: null,
        }
      },
    },
  ],
})
