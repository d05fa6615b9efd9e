import { randomBytes } from 'node:crypto'
import { ask } from '../postgres/postgres.ts'

/**
 * With the variable TEST_STORE, the URL of an empty PostgreSQL database, every service of the tests runs over a new database of that server,
 * and its folder is the copy: so the whole suite can be run against that engine (`npm run proof -- engine`).
 */
const SERVER = process.env['TEST_STORE']

/** The databases of folders that services of this process were started over. */
const databases = new Map<string, string>()

/** What a service over the folder is told of its database; nothing where the tests run over files. */
export async function storeOf(folder: string): Promise<Readonly<Record<string, string>>> {
  if (SERVER === undefined) return {}
  let url = databases.get(folder)
  if (url === undefined) {
    const name = `test_${randomBytes(6).toString('hex')}`
    await ask(SERVER, `create database ${name}`)
    url = SERVER.replace(/\/[^/]*$/, `/${name}`)
    databases.set(folder, url)
  }
  return { STORE: url, CACHE_DIR: folder }
}

/** The folder is removed, and its database with it. */
export async function forgetStore(folder: string): Promise<void> {
  const url = databases.get(folder)
  if (url === undefined || SERVER === undefined) return
  databases.delete(folder)
  await ask(SERVER, `drop database if exists ${new URL(url).pathname.slice(1)} with (force)`)
}
