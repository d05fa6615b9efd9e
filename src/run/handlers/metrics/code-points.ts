/** The Unicode code points of a text, in which lengths and distances are counted (interface 11.8). */
export function codePoints(text: string): Int32Array {
  const points = new Int32Array(text.length)
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) ?? 0
    if (point > 0xffff) at++
    points[count++] = point
  }
  return points.subarray(0, count)
}
