import { extname } from 'node:path/posix'
import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'
import { immutableResponse } from '../public-routes/lasting-answer.ts'
import type { PublicRoute } from '../request.ts'
import { ASSETS } from './addresses.ts'

/** The built page, ready to serve. */
interface Build {
  /** Changes with each build. */
  readonly stamp: string
  /** The text of `index.html`. */
  readonly page: string
  /** The other files, by path. */
  readonly files: ReadonlyMap<string, PublicRoute>
}

/**
 * The files of the built page: `index.html`, its siblings, and `assets`. Serves only plain files of the build
 * by their exact names, so that no path leads elsewhere and symbolic links are not followed. A file is read
 * on first use and cached; the next request sees a new build.
 */
export class PageFiles {
  readonly #fs: Pick<Fs, 'stat' | 'readDir' | 'readFile'>
  readonly #folder: string
  #build: Build | undefined

  constructor(fs: Pick<Fs, 'stat' | 'readDir' | 'readFile'>, folder: string) {
    this.#fs = fs
    this.#folder = folder
  }

  /** The text of the page; undefined if it is not built. */
  get page(): string | undefined {
    return this.#current()?.page
  }

  /** The route for a file path such as `/assets/index-1a2b.js`; undefined if there is none. */
  file(path: string): PublicRoute | undefined {
    return this.#current()?.files.get(path)
  }

  #current(): Build | undefined {
    const stat = this.#fs.stat(`${this.#folder}/index.html`)
    if (stat?.kind !== 'file') return (this.#build = undefined)
    const stamp = `${stat.inode} ${stat.modified} ${stat.size}`
    if (this.#build?.stamp !== stamp) this.#build = this.#read(stamp)
    return this.#build
  }

  #read(stamp: string): Build | undefined {
    const page = this.#fs.readFile(`${this.#folder}/index.html`)?.toString('utf8')
    if (page === undefined) return undefined
    const files = [...this.#listed('', ASKED_EACH_TIME), ...this.#listed(`/${ASSETS}`, FOR_A_YEAR)]
    return { stamp, page, files: new Map(files) }
  }

  *#listed(below: string, cacheControl: string): Generator<[string, PublicRoute]> {
    const folder = this.#folder + below
    if (this.#fs.stat(folder)?.kind !== 'folder') return
    for (const name of this.#fs.readDir(folder) ?? []) {
      const path = `${folder}/${name}`
      const type = TYPES[extname(name)]
      if (name === 'index.html' || type === undefined || this.#fs.stat(path)?.kind !== 'file') continue
      yield [`${below}/${name}`, this.#answering(path, type, cacheControl)]
    }
  }

  #answering(path: string, type: string, cacheControl: string): PublicRoute {
    const read = (): Uint8Array => {
      const bytes = this.#fs.readFile(path)
      if (bytes) return bytes
      throw new Refusal('file_not_found', 'The page is being built anew. Load it again.')
    }
    return immutableResponse(type, read, {
      cacheControl,
      isWorthCompressing: !/^(?:image\/png|font)/.test(type),
    })
  }
}

const FOR_A_YEAR = 'public, max-age=31536000, immutable'
const ASKED_EACH_TIME = 'no-cache'

/** The served file types, by extension. */
const TYPES: Readonly<Record<string, string | undefined>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.txt': 'text/plain; charset=utf-8',
}
