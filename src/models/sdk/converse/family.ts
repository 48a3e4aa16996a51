// What the makers of Bedrock's models differ in. Ids look like `anthropic.claude-...`, with a region or the word of a
// profile in front: `eu.anthropic.claude-...`.

export interface ConverseFamily {
  maker: "claude" | "nova" | "openai" | "other"
  takesCachePoints: boolean
  takesPicturesInResults: boolean
  /** Whether a result may say that it is an error. */
  takesResultStatus: boolean
}

export function familyOf(modelId: string): ConverseFamily {
  if (modelId.includes("anthropic.claude")) {
    // The first ones know no cache, and refuse its points.
    const isOld = /claude-(?:3-(?:opus|sonnet|haiku)|3-5-sonnet-20240620|v2|instant)/.test(modelId)
    return { maker: "claude", takesCachePoints: !isOld, takesPicturesInResults: true, takesResultStatus: true }
  }
  if (modelId.includes("amazon.nova")) {
    return { maker: "nova", takesCachePoints: true, takesPicturesInResults: true, takesResultStatus: true }
  }
  const maker = /(?:^|\.)openai\./.test(modelId) ? "openai" : "other"
  return { maker, takesCachePoints: false, takesPicturesInResults: false, takesResultStatus: false }
}
