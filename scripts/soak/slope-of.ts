/** The straight line that lies closest to points (least squares): how much it rises for each unit of x. 0 for fewer than two points. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const meanOf = (axis: 0 | 1): number =>
    points.reduce((sum, point) => sum + point[axis], 0) / Math.max(points.length, 1)
  const [meanX, meanY] = [meanOf(0), meanOf(1)]
  let above = 0
  let below = 0
  for (const [x, y] of points) {
    above += (x - meanX) * (y - meanY)
    below += (x - meanX) ** 2
  }
  return below === 0 ? 0 : above / below
}
