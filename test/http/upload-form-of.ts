/** The form of an upload, as a browser sends it: the text of the file, and the fields beside it. */
export function uploadFormOf(file: string, fields: Readonly<Record<string, string>> = {}): FormData {
  const form = new FormData()
  form.set('file', new Blob([file]), 'rows')
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}
