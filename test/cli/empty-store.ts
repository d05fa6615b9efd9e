import { Store } from '../../src/git/store/store.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'

/** Makes a store without a project in it, as a first start does: a command works only on a store that is there. */
export async function makeEmptyStore(folder: string): Promise<void> {
  await (await Store.open(nodeFs, folder)).close()
}
