import { isAbsolute } from 'node:path'
import { COMMAND } from '../../command-name.ts'
import { type Config, readConfig } from '../../config.ts'
import { Refusal } from '../../errors.ts'
import { nodeFs } from '../../storage/files.ts'
import { type ChosenServer, chosenServer, namedAddress } from './chosen-server.ts'

/** Where a command works, and how messages show it: `at http://…` or `in the store ./store`. */
export type Place =
  | { readonly kind: 'server'; readonly server: ChosenServer; readonly shown: string }
  | { readonly kind: 'store'; readonly config: Config; readonly shown: string }

/** The options of the command line that choose the place. */
export interface PlaceOptions {
  readonly store?: string | undefined
  readonly url?: string | undefined
  readonly key?: string | undefined
}

/**
 * Chooses the place of a command. The first of these wins: `--store`, `--url`, `BRANCHPOINT_URL`, the server of the last login, the store of
 * `STORE` or `STORE_DIR`, `./store`. Throws a UsageError for a server without a key, and refuses a store that does not exist.
 */
export function placeOf(
  { store, url, key }: PlaceOptions,
  environment: Readonly<Record<string, string | undefined>>,
  usage: string,
): Place {
  if (store === undefined && namedAddress(url, environment) !== undefined) {
    const server = chosenServer({ url, key }, environment, usage)
    return { kind: 'server', server, shown: `at ${server.url}` }
  }
  const config = readConfig(environment)
  const chosen = store === undefined ? config : { ...config, store: undefined, storeDir: store }
  assertStoreThere(chosen)
  return { kind: 'store', config: chosen, shown: `in ${storeName(chosen)}` }
}

/** The paragraph about the place in the usage of a command. */
export const PLACE_USAGE = `It works on the first of these: the store of --store DIR, the server of --url URL, the one of BRANCHPOINT_URL (with --key KEY or
BRANCHPOINT_KEY), what login stored last, the database in STORE, the store in STORE_DIR (./store unless set). A store has to be there.`

/** The store's name in messages. */
export function storeName({ store, storeDir }: Config): string {
  if (store !== undefined) return 'the database in STORE'
  const isPath = isAbsolute(storeDir) || storeDir.startsWith('.')
  return `the store ${isPath ? storeDir : `./${storeDir}`}`
}

/** Refuses a folder without a store. Only `serve` and `restore` create one, so a mistyped path creates none. */
export function assertStoreThere({ store, storeDir }: Config): void {
  if (store !== undefined || nodeFs.stat(`${storeDir}/format`)) return
  throw new Refusal(
    'storage_unavailable',
    `There is no store at ${storeDir}. Name its folder with --store or STORE_DIR, or name a server with --url or BRANCHPOINT_URL; ` +
      `a first start (${COMMAND} serve) makes a store.`,
  )
}
