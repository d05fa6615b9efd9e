/** The lines of what a program writes, by line feeds alone: what else a name may hold (a CR, U+2028) ends none. */
export async function* linesOf(output: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let pieces: Buffer[] = []
  for await (const chunk of output) {
    let from = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...pieces, chunk.subarray(from, end)]).toString('utf8')
      pieces = []
      from = end + 1
    }
    pieces.push(chunk.subarray(from))
  }
  const last = Buffer.concat(pieces)
  if (last.length > 0) yield last.toString('utf8')
}

const LINE_FEED = 0x0a
