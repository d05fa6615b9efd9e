import Database from 'libsql'

/** What a program beside the server reads of a file of traces. */
export function rowsOfFile<T = unknown>(file: string, sql: string): readonly T[] {
  const database = new Database(file, { readonly: true })
  try {
    return database.prepare(sql).all() as T[] // of the test's own query
  } finally {
    database.close()
  }
}
