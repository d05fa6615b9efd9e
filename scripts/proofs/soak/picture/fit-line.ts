/** The straight line that lies closest to points (least squares), as a function of x. A level one where all points have one x. */
export function fitLine(points: readonly (readonly [x: number, y: number])[]): {
  readonly slope: number
  readonly at: (x: number) => number
} {
  const [meanX, meanY] = [meanOf(points, 0), meanOf(points, 1)]
  let above = 0
  let below = 0
  for (const [x, y] of points) {
    above += (x - meanX) * (y - meanY)
    below += (x - meanX) ** 2
  }
  const slope = below === 0 ? 0 : above / below
  return { slope, at: (x) => meanY + slope * (x - meanX) }
}

function meanOf(points: readonly (readonly [x: number, y: number])[], axis: 0 | 1): number {
  return points.reduce((sum, point) => sum + point[axis], 0) / Math.max(points.length, 1)
}
