/**
 * The one form in which routes see an address: without leading `/api` and `/preview` segments and without a trailing
 * slash (interface 2.1), the query string untouched. Costs a few comparisons when there is nothing to do.
 */
export function normalisePath(url: string): string {
  if (!url.startsWith('/')) return URL.canParse(url) ? normalisePath(withoutOrigin(url)) : url
  const query = url.indexOf('?')
  const end = query < 0 ? url.length : query
  let from = 0
  for (;;) {
    if (hasSegment(url, from, end, '/api')) from += 4
    else if (hasSegment(url, from, end, '/preview')) from += 8
    else break
  }
  const to = url.charCodeAt(end - 1) === SLASH && end > from ? end - 1 : end
  if (from === 0 && to === end) return url
  return (to > from ? url.slice(from, to) : '/') + url.slice(end)
}

const SLASH = 47

/** RFC 9112 3.2.2: a server must take the absolute form that clients send to proxies. */
function withoutOrigin(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

function hasSegment(url: string, from: number, end: number, segment: string): boolean {
  if (!url.startsWith(segment, from)) return false
  const next = from + segment.length
  return next === end || (next < end && url.charCodeAt(next) === SLASH)
}
