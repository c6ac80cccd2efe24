"""Questions: what players ask of battles: arrays, armies, decisions, defence, simulation, audit."""
