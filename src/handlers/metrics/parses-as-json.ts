/**
 * Whether a text is JSON, whatever this service would do with it: a key may stand there twice. `NaN` and `Infinity` pass for numbers, as
 * many writers of JSON let them (interface 11.3).
 */
export function parsesAsJson(text: string): boolean {
  return isJson(text) || (/NaN|Infinity/.test(text) && isJson(withoutNonNumbers(text)))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The text with a 0 for each, but not inside strings. */
function withoutNonNumbers(text: string): string {
  let done = ''
  let start = 0
  let isInside = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (isInside && char === '\\') at++
    else if (char === '"') {
      done += isInside ? text.slice(start, at) : zeroed(text.slice(start, at))
      start = at
      isInside = !isInside
    }
  }
  return isInside ? text : done + zeroed(text.slice(start))
}

function zeroed(text: string): string {
  return text.replaceAll(/(?<![\w.-])(?:NaN|-?Infinity)(?![\w.])/g, '0')
}
