package handover

import "github.com/memvcs/mem/layers/keepit"

// PinPressure returns what a marker must survive to be handed over, by the distance of its session: the pressure of a
// compression at 10:1.
func PinPressure(distance int, decay keepit.Decay) keepit.Pressure {
	return keepit.Pressure{Level: keepit.Moderate, Ratio: 10, Distance: max(1, distance), Decay: decay}
}
